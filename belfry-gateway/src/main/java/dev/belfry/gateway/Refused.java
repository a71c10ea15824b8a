package dev.belfry.gateway;

/** Thrown for a request that does not reach a worker, with its answer. */
final class Refused extends Exception {
  private static final long serialVersionUID = 1;

  private final transient Answer answer;

  Refused(Answer answer) {
    super(answer.toString(), null, false, false);
    this.answer = answer;
  }

  Refused(int status, GatewayError error, String message) {
    this(Answer.error(status, error, message));
  }

  Answer answer() {
    return answer;
  }
}
