/** The status of a request whose client disconnected before the response: none was sent. */
export const CLIENT_GONE = 499;
