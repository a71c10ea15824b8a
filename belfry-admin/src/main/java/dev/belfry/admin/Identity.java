package dev.belfry.admin;

/**
 * Who sent a request.
 *
 * @param name for the log
 * @param client whose budget the request uses: a certificate's fingerprint, an address, or the Unix
 *     socket
 */
// r[impl signals.http.rate-client]
record Identity(String name, String client) {}
