package dev.belfry.admin;

import java.io.IOException;
import java.net.Socket;
import java.net.http.HttpClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedKeyManager;
import org.jspecify.annotations.Nullable;

/** Keys and certificates made for the tests: the server's, two clients', and a stranger's. */
final class Certificates {
  private static final char[] PASSWORD = "changeit".toCharArray();
  private static final List<String> NAMES = List.of("server", "alice", "bob", "stranger");

  private final Path directory;
  private final Map<String, KeyStore> stores = new TreeMap<>();

  private Certificates(Path directory) {
    this.directory = directory;
  }

  /** Generates them with the JDK's keytool. */
  static Certificates create() throws Exception {
    var certificates = new Certificates(Scratch.newDirectory("certificates"));
    var tools = new ArrayList<Process>();
    for (String name : NAMES) {
      tools.add(certificates.generate(name));
    }
    for (Process tool : tools) {
      if (tool.waitFor() != 0) {
        throw new IOException("keytool failed");
      }
    }
    for (String name : NAMES) {
      certificates.export(name);
    }
    Files.writeString(
        certificates.directory.resolve("clients.pem"),
        Files.readString(certificates.pem("alice")) + Files.readString(certificates.pem("bob")));
    return certificates;
  }

  private Process generate(String name) throws IOException {
    return new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
            "-genkeypair",
            "-alias",
            name,
            "-keyalg",
            "EC",
            "-dname",
            "CN=" + name,
            "-validity",
            "10",
            "-storetype",
            "PKCS12",
            "-storepass",
            new String(PASSWORD),
            "-ext",
            "SAN=dns:localhost,dns:*.example.test,ip:127.0.0.1,ip:2001:db8::5",
            "-keystore",
            store(name).toString())
        .inheritIO()
        .start();
  }

  private Path store(String name) {
    return directory.resolve(name + ".p12");
  }

  private void export(String name) throws IOException, GeneralSecurityException {
    KeyStore store = KeyStore.getInstance(store(name).toFile(), PASSWORD);
    stores.put(name, store);
    Files.writeString(pem(name), pem("CERTIFICATE", store.getCertificate(name).getEncoded()));
    Files.writeString(key(name), pem("PRIVATE KEY", store.getKey(name, PASSWORD).getEncoded()));
    Files.setPosixFilePermissions(key(name), PosixFilePermissions.fromString("rw-------"));
  }

  private static String pem(String type, byte[] content) {
    String base64 = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(content);
    return "-----BEGIN %s-----\n%s\n-----END %s-----\n".formatted(type, base64, type);
  }

  Path pem(String name) {
    return directory.resolve(name + ".pem");
  }

  Path key(String name) {
    return directory.resolve(name + ".key");
  }

  /** The client certificates that the server trusts: those of alice and bob. */
  Path clients() {
    return directory.resolve("clients.pem");
  }

  String fingerprint(String name) throws GeneralSecurityException {
    Certificate certificate = loaded(name).getCertificate(name);
    return Authenticator.fingerprint((X509Certificate) certificate);
  }

  private KeyStore loaded(String name) {
    return Objects.requireNonNull(stores.get(name), name);
  }

  /** A client that trusts the server and presents the named certificate, or none. */
  HttpClient client(Optional<String> name) throws Exception {
    SSLContext context = SSLContext.getInstance("TLS");
    KeyManagerFactory keys = KeyManagerFactory.getInstance("PKIX");
    keys.init(name.map(stores::get).orElse(null), PASSWORD);
    KeyStore trusted = KeyStore.getInstance("PKCS12");
    trusted.load(null, null);
    trusted.setCertificateEntry("server", loaded("server").getCertificate("server"));
    TrustManagerFactory trust = TrustManagerFactory.getInstance("PKIX");
    trust.init(trusted);
    KeyManager[] shown =
        name.map(_ -> new KeyManager[] {new Insistent(keys)}).orElse(new KeyManager[0]);
    context.init(shown, trust.getTrustManagers(), null);
    return HttpClient.newBuilder().sslContext(context).version(HttpClient.Version.HTTP_1_1).build();
  }

  /** Presents its certificate even to a server that does not accept its issuer. */
  private static final class Insistent extends X509ExtendedKeyManager {
    private final X509ExtendedKeyManager keys;

    Insistent(KeyManagerFactory factory) {
      this.keys = (X509ExtendedKeyManager) factory.getKeyManagers()[0];
    }

    @Override
    public String chooseEngineClientAlias(
        String[] types, Principal @Nullable [] issuers, SSLEngine engine) {
      return keys.getClientAliases("EC", null)[0];
    }

    @Override
    public String chooseClientAlias(
        String[] types, Principal @Nullable [] issuers, @Nullable Socket socket) {
      return keys.getClientAliases("EC", null)[0];
    }

    @Override
    public String[] getClientAliases(String type, Principal @Nullable [] issuers) {
      return keys.getClientAliases(type, issuers);
    }

    @Override
    public String[] getServerAliases(String type, Principal @Nullable [] issuers) {
      return keys.getServerAliases(type, issuers);
    }

    @Override
    public String chooseServerAlias(
        String type, Principal @Nullable [] issuers, @Nullable Socket socket) {
      return keys.chooseServerAlias(type, issuers, socket);
    }

    @Override
    public X509Certificate[] getCertificateChain(String name) {
      return keys.getCertificateChain(name);
    }

    @Override
    public PrivateKey getPrivateKey(String name) {
      return keys.getPrivateKey(name);
    }
  }
}
