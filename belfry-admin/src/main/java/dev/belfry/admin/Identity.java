package dev.belfry.admin;

import java.util.Optional;

/**
 * Who sent a request.
 *
 * @param name for the log
 * @param client whose budget the request uses: a certificate's fingerprint, an address, or the Unix
 *     socket
 * @param session the console's session by which the sender is known, if any
 */
// r[impl signals.http.rate-client]
record Identity(String name, String client, Optional<Sessions.Session> session) {
  /** Of a request that shows nothing, or has not been asked. */
  static final Identity NOBODY = new Identity("none", "");

  Identity(String name, String client) {
    this(name, client, Optional.empty());
  }
}
