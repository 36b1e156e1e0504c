/** The status of a request whose client disconnected before a response was sent. */
export const CLIENT_GONE = 499;
