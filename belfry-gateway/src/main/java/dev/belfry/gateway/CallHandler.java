package dev.belfry.gateway;

import dev.belfry.http.Target;
import dev.belfry.workers.CallException;
import dev.belfry.workers.WorkerPool;
import io.helidon.http.HeaderValues;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.http.Handler;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;

/** Handles a request from head to answer: access check, call request, payload, call. */
final class CallHandler implements Handler {
  private static final Logger LOGGER = System.getLogger(CallHandler.class.getName());

  private final long maxBytes;
  private final Duration deadline;
  private final WorkerPool pool;
  private final Connections connections;
  private final Guard guard;
  private final Memory memory;

  CallHandler(GatewayOptions options, WorkerPool pool, Connections connections) {
    this.maxBytes = options.maxBytes; // copied now: the options may change later
    this.deadline = options.deadline;
    this.pool = pool;
    this.connections = connections;
    this.guard = new Guard(options);
    this.memory = new Memory(options.bytesInAll());
  }

  @Override
  public void handle(ServerRequest request, ServerResponse response) throws IOException {
    Client client = connections.of(request.remotePeer(), request.localPeer());
    client.begin();
    Watch watch;
    try (var payload = new Payload(request, client, memory, maxBytes)) {
      watch = answer(client, request, payload, response);
    } finally {
      client.end();
    }
    awaitAnother(client, watch, request);
  }

  private Watch answer(
      Client client, ServerRequest request, Payload payload, ServerResponse response)
      throws IOException {
    try {
      if (connections.isClosing()) {
        throw new Refused(Answer.closing("The gateway is about to close"));
      }
      Target target = Target.of(request);
      guard.check(target, request.headers());
      return answer(client, CallRequest.of(target, request, deadline), payload, response);
    } catch (Refused e) {
      payload.close(); // no longer needed
      response.header(HeaderValues.CONNECTION_CLOSE); // the body may not have been read
      e.answer().send(request, response);
      payload.dropRest();
      throw new CloseConnectionException("refused", e);
    }
  }

  private Watch answer(Client client, CallRequest call, Payload payload, ServerResponse response)
      throws IOException, Refused {
    byte[] bytes = payload.read();
    client.allowCall(call.options().deadline());
    Watch watch = client.watch();
    Answer answer = call(call, bytes);
    payload.holdAnswer(answer.size());
    if (!watch.end()) {
      throw new CloseConnectionException("the client has gone");
    }
    client.allowAnswer();
    if (connections.isClosing()) {
      response.header(HeaderValues.CONNECTION_CLOSE);
    }
    answer.send(response);
    return watch;
  }

  private Answer call(CallRequest call, byte[] payload) {
    try {
      return Answer.ok(pool.call(call.method(), payload, call.options()));
    } catch (CallException e) {
      return Answer.of(e);
    } catch (InterruptedException e) {
      throw new CloseConnectionException("the client has gone, or was cut off", e);
    } catch (RuntimeException e) {
      LOGGER.log(Level.ERROR, "a call to '" + call.method() + "' has failed in the gateway", e);
      return Answer.error(500, GatewayError.INTERNAL, "The gateway has failed; its log says more");
    }
  }

  /** Returns to the server only once the next request begins to arrive. */
  private void awaitAnother(Client client, Watch watch, ServerRequest request) {
    boolean isLast = request.headers().containsToken(HeaderValues.CONNECTION_CLOSE);
    try {
      if (isLast || connections.isClosing() || !watch.awaitAnother()) {
        throw new CloseConnectionException("no more requests");
      }
      client.anotherComes();
    } catch (InterruptedException e) {
      throw new CloseConnectionException("cut off", e);
    }
  }
}
