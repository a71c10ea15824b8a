package dev.belfry.bench.call;

import dev.belfry.bench.harness.ContenderMain;
import dev.belfry.bench.harness.ContenderProcess;
import dev.belfry.bench.harness.JavaCommand;
import dev.belfry.bench.harness.Pinning;
import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCalls;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/**
 * Unary gRPC calls over loopback, all callers on one channel, as is usual. Payloads are raw bytes,
 * without Protocol Buffers, and both sides answer on the event loop, without a hand-off.
 *
 * @param server the process that answers
 * @param channel the connection to it
 */
record GrpcCalling(ContenderProcess server, ManagedChannel channel) implements Calling {
  private static final String SERVICE = "belfry.bench.Echo";
  private static final MethodDescriptor<byte[], byte[]> ECHO =
      MethodDescriptor.<byte[], byte[]>newBuilder()
          .setType(MethodDescriptor.MethodType.UNARY)
          .setFullMethodName(MethodDescriptor.generateFullMethodName(SERVICE, "Echo"))
          .setRequestMarshaller(Bytes.AS_THEY_ARE)
          .setResponseMarshaller(Bytes.AS_THEY_ARE)
          .build();

  static Calling open() throws IOException {
    ContenderProcess server =
        ContenderProcess.start(
            "grpc", JavaCommand.of(JavaCommand.NETTY, EchoServer.class), Pinning.NONE);
    int port = Integer.parseInt(server.awaitReady());
    ManagedChannel channel =
        NettyChannelBuilder.forAddress(loopback(port)).usePlaintext().directExecutor().build();
    return new GrpcCalling(server, channel);
  }

  private static InetSocketAddress loopback(int port) {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
  }

  @Override
  public Caller caller(int bytes) {
    return payload -> ClientCalls.blockingUnaryCall(channel, ECHO, CallOptions.DEFAULT, payload);
  }

  @Override
  public void close() {
    channel.shutdownNow();
    server.close();
  }

  /** Passes payloads as raw bytes. */
  private enum Bytes implements MethodDescriptor.Marshaller<byte[]> {
    AS_THEY_ARE;

    @Override
    public InputStream stream(byte[] value) {
      return new ByteArrayInputStream(value);
    }

    @Override
    public byte[] parse(InputStream stream) {
      try {
        return stream.readAllBytes();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  /** The process that answers. */
  static final class EchoServer {
    private EchoServer() {}

    public static void main(String[] arguments) throws IOException {
      Server server =
          NettyServerBuilder.forAddress(loopback(0))
              .directExecutor()
              .addService(
                  ServerServiceDefinition.builder(SERVICE)
                      .addMethod(
                          ECHO,
                          ServerCalls.asyncUnaryCall(
                              (call, answers) -> {
                                answers.onNext(call);
                                answers.onCompleted();
                              }))
                      .build())
              .build()
              .start();
      ContenderMain.ready(server.getPort());
      ContenderMain.awaitEnd();
      System.exit(0);
    }
  }
}
