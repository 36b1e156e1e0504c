/** Certificates for tests, made when they are needed. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The files of a certificate and its private key. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

const NEW_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];

/** Makes an authority. Its files are in a folder. */
export function createAuthority(folder: string, name: string) {
  const openssl = (...args: string[]) => execFileSync("openssl", args, { cwd: folder, stdio: "pipe" });
  const filesOf = (owner: string): Certificate => ({
    cert: join(folder, `${owner}.crt`),
    key: join(folder, `${owner}.key`),
  });
  const authority = filesOf(name);
  openssl(
    "req",
    "-x509",
    ...NEW_KEY,
    "-subj",
    `/CN=${name}`,
    "-keyout",
    authority.key,
    "-out",
    authority.cert,
  );
  return {
    ...authority,
    /** Makes a certificate for `127.0.0.1` and `localhost` that the authority has signed. */
    sign(owner: string): Certificate {
      const files = filesOf(owner);
      const request = join(folder, `${owner}.csr`);
      const names = "subjectAltName=IP:127.0.0.1,DNS:localhost";
      const wanted = ["-subj", `/CN=${owner}`, "-addext", names];
      openssl("req", ...NEW_KEY, ...wanted, "-keyout", files.key, "-out", request);
      const signed = [
        "-CA",
        authority.cert,
        "-CAkey",
        authority.key,
        "-CAcreateserial",
        "-copy_extensions",
        "copy",
      ];
      openssl("x509", "-req", "-in", request, ...signed, "-out", files.cert);
      return files;
    },
  };
}

/** The content of the files. */
export const readCertificate = ({ cert, key }: Certificate): { cert: string; key: string } => ({
  cert: readFileSync(cert, "utf8"),
  key: readFileSync(key, "utf8"),
});
