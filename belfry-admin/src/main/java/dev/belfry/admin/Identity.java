package dev.belfry.admin;

import java.util.Optional;

/**
 * The sender of a request.
 *
 * @param name its name in the log
 * @param client the key of its rate limit: a certificate's fingerprint, an address, or the Unix
 *     socket
 * @param session the console session that identified the sender, if any
 */
// r[impl signals.http.rate-client]
record Identity(String name, String client, Optional<Sessions.Session> session) {
  /** A sender without credentials, or one not asked for any. */
  static final Identity NOBODY = new Identity("none", "");

  Identity(String name, String client) {
    this(name, client, Optional.empty());
  }
}
