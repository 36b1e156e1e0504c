/**
 * Names whose values are secret in most APIs, as `secrets` of a pack spells them (`src/audit/redact/secret-names.ts`).
 * They apply to every pack in addition to its own names, and to traffic of an undescribed API. The list is deliberately
 * too long rather than too short.
 *
 * A short word only matches a whole part of a name, `_pin_`, because harmless words contain it: `spin`, `shipping`. A
 * word that is harmless in combination with other words only matches a whole name: `session`, but not `session_name`.
 */
export const USUAL_SECRET_NAMES: readonly string[] = [
  // Secrets that prove the identity of a person or a program.
  `*admin_pass* assertion client_assertion *contrasena* *db_pass* *kennwort* *mot_de_passe* _pass_
    *passcode* *passkey* *passphrase* *passw* *pswd* _pw_ *pwd* *root_pass* saml_art *saml_assertion*
    *saml_response* *secret* *security_answer* *user_pass* *wachtwoord*`,
  // Codes that are valid once, or for a limited time.
  `*access_code* *activation_code* *authentication_code* *authorization_code* *auth_code* *backup_code*
    code_verifier *confirmation_code* *device_code* *invitation_code* *invite_code* *login_code* *mfa_code*
    *one_time_code* _otp_ _pin_ _puk_ *recovery_code* *reset_code* *scratch_code* *security_code* *sms_code*
    *tfa_code* _totp_ *two_factor_code* *unlock_code* *verification_code*`,
  // Keys, and values that are derived from keys.
  `*access_key* *account_key* *api_key* *app_key* *auth_key* *client_key* *connection_string* *conn_str*
    *consumer_key* *crypt_key* *cryption_key* _dsn_ _hmac_ *key_material* *kubeconfig* *licence_key*
    *license_key* *master_key* *mnemonic* *pre_shared* *private_key* *priv_key* _psk_ *recovery_key*
    *recovery_phrase* *seed_phrase* *server_key* *service_key* *shared_key* _sig_ *signature* *signing_key*
    *ssl_key* *storage_key* *subscription_key* *tls_key*`,
  // Tokens, sessions, and the headers that contain them. A ticket of CAS is a text, and a ticket of a help desk is an
  // object.
  `_auth_ *auth_header* authorization *basic_auth* _bearer_ *cookie* _credential_ _credentials_ *jwt*
    oauth_verifier *proxy_auth* *sess_id* session *session_id* *session_key* sid ticket[] *token*`,
  // Numbers of people, cards and accounts.
  `*account_number* *card_code* *card_number* *cc_number* _csc_ _cvc_ _cvv_ _iban_ national_id
    *passport_number* *social_security* _ssn_`,
  // Harmless names that contain one of these words.
  `!*auth_enabled* !*auth_endpoint* !*auth_level* !*auth_method* !*auth_mode* !*auth_provider*
    !*auth_required* !*auth_scheme* !*auth_status* !*auth_time* !*auth_type* !*auth_uri* !*auth_url*
    !bearer_format !max_tokens !*passwordless* !*secretar* !sig_alg !signature_algorithm !signature_method
    !signature_version !token_count !token_endpoint !token_type !token_type_hint !token_url !*tokeniz*
    !*two_factor_auth*`,
].flatMap((names) => names.split(/\s+/));
