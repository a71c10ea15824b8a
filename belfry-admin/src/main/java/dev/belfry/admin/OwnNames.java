package dev.belfry.admin;

import dev.belfry.http.Target;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/**
 * The host names under which a browser may address the listener: its address, localhost for a
 * loopback address, the configured name, and the names in its certificate. Others are rejected to
 * prevent DNS rebinding: the owner of a foreign name can point it here, and pages loaded from that
 * name would count as the same origin.
 */
final class OwnNames {
  private static final int DNS_NAME = 2;
  private static final int IP_ADDRESS = 7;
  private static final String WILDCARD = "*.";

  private final Set<String> names = new HashSet<>();

  OwnNames(InetSocketAddress address, Optional<Path> certificates) throws IOException {
    names.add(address.getHostString().toLowerCase(Locale.ROOT));
    if (certificates.isPresent()) {
      names.addAll(of(certificates.get()));
    }
  }

  /** Whether a host name or literal address denotes this listener. */
  boolean contains(String name, Optional<InetAddress> arrivedAt) {
    boolean isLocal = arrivedAt.filter(InetAddress::isLoopbackAddress).isPresent();
    return names.contains(name)
        || names.contains(name.replaceFirst("^[^.]+\\.", WILDCARD))
        || (isLocal && name.equals("localhost"))
        || Target.literal(name)
            .filter(
                it ->
                    names.contains(it.getHostAddress()) // normalised, as certificates have it
                        || (isLocal && it.isLoopbackAddress())
                        || arrivedAt.equals(Optional.of(it)))
            .isPresent();
  }

  /** The names in the first certificate of a file. */
  static Set<String> of(Path certificates) throws IOException {
    var names = new HashSet<String>();
    try {
      X509Certificate certificate = CertificateFile.read(certificates).getFirst();
      Collection<List<?>> alternatives = certificate.getSubjectAlternativeNames();
      for (List<?> alternative : alternatives == null ? List.<List<?>>of() : alternatives) {
        int kind = (Integer) alternative.get(0);
        if (kind == DNS_NAME || kind == IP_ADDRESS) {
          names.add(String.valueOf(alternative.get(1)).toLowerCase(Locale.ROOT));
        }
      }
    } catch (CertificateParsingException e) {
      throw new IOException("no names can be read in the certificate of " + certificates, e);
    }
    return names;
  }
}
