package dev.belfry.admin;

import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Base64;
import java.util.Deque;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * The console's sessions, in memory only. A session ends when it expires, when its user signs out,
 * when the process ends, or when it is the oldest of too many.
 */
final class Sessions {
  static final Duration LIFETIME = Duration.ofHours(8);
  static final int MAX = 32;

  private static final int TOKEN_BYTES = 32;

  private final LongSupplier nanoClock;
  private final SecureRandom random = new SecureRandom();
  private final Deque<Session> sessions = new ArrayDeque<>(); // oldest first

  Sessions(LongSupplier nanoClock) {
    this.nanoClock = nanoClock;
  }

  /**
   * A session.
   *
   * @param token identifies the session
   * @param name who signed in, for the log
   * @param endNanos when it expires
   */
  record Session(Secret token, String name, long endNanos) {}

  /** Begins a session and returns its token. */
  synchronized String begin(String name) {
    byte[] bytes = new byte[TOKEN_BYTES];
    random.nextBytes(bytes);
    String token = Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    long end = nanoClock.getAsLong() + LIFETIME.toNanos();
    sessions.removeIf(this::isOver);
    if (sessions.size() == MAX) {
      sessions.removeFirst();
    }
    sessions.addLast(new Session(Secret.of(token), name, end));
    return token;
  }

  synchronized Optional<Session> find(String token) {
    return sessions.stream().filter(it -> !isOver(it) && it.token().isSame(token)).findFirst();
  }

  synchronized boolean isLive(Session session) {
    return sessions.contains(session) && !isOver(session);
  }

  synchronized void end(Session session) {
    sessions.remove(session);
  }

  private boolean isOver(Session session) {
    return session.endNanos() - nanoClock.getAsLong() <= 0;
  }
}
