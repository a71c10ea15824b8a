package dev.belfry.cli.config;

import dev.belfry.admin.AdminOptions;
import dev.belfry.admin.AdminTls;
import dev.belfry.admin.Secret;
import dev.belfry.cli.BindProbe;
import dev.belfry.cli.Reason;
import dev.belfry.linux.Errno;
import dev.belfry.linux.Sys;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * Checks what a schema cannot: fields that exclude each other, missing files, unsafe addresses. A
 * host that is told to reload thus learns of such faults before it ends.
 */
final class ConfigChecks {
  private final YamlTree tree;
  private final List<ConfigFault> faults;

  ConfigChecks(YamlTree tree, List<ConfigFault> faults) {
    this.tree = tree;
    this.faults = faults;
  }

  void check(HostConfig config) {
    new WorkerChecks(this::fault).check(config.workers());
    config.gateway().ifPresent(this::gateway);
    config.admin().ifPresent(this::admin);
    config.gateway().ifPresent(gateway -> config.admin().ifPresent(it -> differ(gateway, it)));
  }

  private void gateway(GatewayConfig gateway) {
    boolean resolved = address("gateway.listen", gateway.listen());
    if (resolved && !isLoopback(gateway.listen()) && gateway.token().isEmpty()) {
      fault(
          "gateway.listen",
          "anybody on the network could call the workers: give it token_file or token_env, or a"
              + " loopback address");
    }
    if (resolved) {
      canListen("gateway.listen", gateway.listen());
    }
    secret("gateway", gateway.token());
  }

  private void admin(AdminConfig admin) {
    int before = faults.size();
    boolean resolved = address("admin.listen", admin.listen());
    secret("admin", admin.token());
    admin.basic().ifPresent(it -> readable("admin.basic.password_file", it.password()::read));
    credentials(admin);
    if (faults.size() == before) {
      surface(admin);
    }
    if (resolved) {
      canListen("admin.listen", admin.listen());
    }
    admin.unixSocket().ifPresent(this::unixSocket);
    admin.tls().ifPresent(this::tls);
  }

  /** The admin surface checks this too, but does not name the fields of the configuration. */
  private void credentials(AdminConfig admin) {
    String method = "admin.signal_endpoint_auth_method";
    switch (admin.effectiveMethod()) {
      case MTLS -> {
        if (admin.tls().flatMap(AdminTls::clientAuthorities).isEmpty()) {
          fault(method, "mtls needs the field tls with client_authorities");
        }
      }
      case BEARER -> {
        if (admin.needsToken() && admin.authMethod().isEmpty() && admin.basic().isPresent()) {
          fault("admin.basic", "counts only with signal_endpoint_auth_method: basic");
        }
      }
      case BASIC -> {
        if (admin.basic().isEmpty()) {
          fault(method, "basic needs a name and a password: give admin the field basic");
        }
      }
    }
  }

  /** Lets the admin surface check its options, so that what passes here also opens. */
  private void surface(AdminConfig admin) {
    Optional<Secret> ofRunDirectory =
        admin.needsToken() ? Optional.of(Secret.of("whatever it is")) : Optional.empty();
    try {
      admin.options(ofRunDirectory).check();
    } catch (IOException | IllegalArgumentException e) {
      fault("admin.listen", Reason.of(e));
    }
  }

  private void unixSocket(Path file) {
    try {
      new AdminOptions().unixSocket(file).checkUnixSocket();
    } catch (IOException e) {
      fault("admin.unix_socket", Reason.of(e));
    }
  }

  private void tls(AdminTls tls) {
    int before = faults.size();
    exists("admin.tls.certificate", tls.certificates());
    exists("admin.tls.key", tls.privateKey());
    tls.clientAuthorities().ifPresent(it -> exists("admin.tls.client_authorities", it));
    if (tls.clientAuthorities().isEmpty() && !tls.allowedClients().isEmpty()) {
      fault("admin.tls.allowed_clients", "counts only with client_authorities");
    }
    if (faults.size() == before) {
      try {
        tls.check();
      } catch (IllegalArgumentException e) {
        fault("admin.tls", String.valueOf(e.getMessage()));
      }
    }
  }

  private void differ(GatewayConfig gateway, AdminConfig admin) {
    if (BindProbe.overlap(gateway.listen(), admin.listen())) {
      fault("admin.listen", "the gateway listens there already");
    }
  }

  private void canListen(String field, InetSocketAddress address) {
    BindProbe.refusal(Sys.forAnyThread(), address)
        .ifPresent(
            refusal -> {
              switch (refusal.errno()) {
                // Not a fault: a host that is told to reload holds the port itself. The kernel
                // reports the other errors first.
                case Errno.EADDRINUSE -> {}
                case Errno.EACCES ->
                    fault(
                        field,
                        "this process may not have port %d: choose one above 1023, or let it have CAP_NET_BIND_SERVICE"
                            .formatted(address.getPort()));
                case Errno.EADDRNOTAVAIL, Errno.EAFNOSUPPORT ->
                    fault(
                        field, "this machine does not have the address " + address.getHostString());
                default -> fault(field, "nothing can listen there: " + refusal.getMessage());
              }
            });
  }

  /** Whether the address is resolved; if not, adds a fault. */
  private boolean address(String field, InetSocketAddress address) {
    if (address.isUnresolved()) {
      fault(field, "there is no address for " + address.getHostString());
    }
    return !address.isUnresolved();
  }

  private static boolean isLoopback(InetSocketAddress address) {
    return address.getAddress().isLoopbackAddress();
  }

  private void secret(String section, Optional<SecretSource> source) {
    source.ifPresent(
        it -> {
          String field = it instanceof SecretSource.InFile ? "token_file" : "token_env";
          readable(section + "." + field, () -> it.read().asToken());
        });
  }

  private interface Read {
    Secret secret() throws IOException;
  }

  private void readable(String field, Read read) {
    try {
      read.secret();
    } catch (IOException e) {
      fault(field, "cannot be read: " + Reason.of(e));
    } catch (IllegalArgumentException e) {
      fault(field, String.valueOf(e.getMessage()));
    }
  }

  private void exists(String field, Path file) {
    if (!Files.isRegularFile(file) || !Files.isReadable(file)) {
      fault(field, "there is no file " + file + " that can be read");
    }
  }

  private void fault(String field, String reason) {
    faults.add(new ConfigFault(tree.line(field), field, reason));
  }
}
