// SPDX-License-Identifier: Apache-2.0
package example.nats;

import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.LeaseStoreBackend;
import io.mortise.lock.spi.LockBackend;
import io.mortise.lock.spi.LockProvider;
import io.mortise.lock.spi.LockUrl;
import io.mortise.lock.spi.support.ConnectRetrier;
import io.nats.client.AuthenticationException;
import io.nats.client.Connection;
import io.nats.client.JetStreamApiException;
import io.nats.client.Nats;
import io.nats.client.Options;
import java.io.IOException;
import java.time.Duration;
import java.util.Set;

/** Opens clients by a URL such as {@code nats://user:password@host:port/bucket}; the bucket is {@code mortise} by default. */
public final class NatsProvider implements LockProvider {
    @Override
    public Set<String> schemes() {
        return Set.of("nats");
    }

    @Override
    public Set<String> parameters() {
        return Set.of();
    }

    @Override
    public LockBackend open(LockUrl url, BackendContext context) {
        String[] servers = url.endpoints(4222).stream()
                .map(server -> "nats://" + server)
                .toArray(String[]::new);
        String bucket = url.path().length() > 1 ? url.path().substring(1) : "mortise";
        Options.Builder options = new Options.Builder()
                .servers(servers)
                .connectionName("mortise-" + context.clientId())
                .connectionTimeout(context.requestTimeout())
                .maxReconnects(-1)
                .reconnectWait(Duration.ofMillis(200))
                .reconnectBufferSize(0) // a request fails while there is no connection, and is not sent much later
                .pingInterval(Duration.ofSeconds(1)); // notices a silent server
        url.user().ifPresent(user -> options.userInfo(user, url.password().orElse("")));
        return ConnectRetrier.of(String.join(",", servers), context.connectTimeout())
                .retry(() -> connect(options.build(), bucket, context));
    }

    private static LockBackend connect(Options options, String bucket, BackendContext context) {
        try {
            Connection connection = Nats.connect(options);
            try {
                return new LeaseStoreBackend(new NatsStore(connection, bucket, context), context);
            } catch (IOException | JetStreamApiException | RuntimeException e) {
                connection.close();
                throw e;
            }
        } catch (AuthenticationException | JetStreamApiException e) {
            throw new BackendRefusedException("NATS rejects the client: " + e.getMessage(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BackendUnavailableException("interrupted while connecting", e);
        } catch (IOException e) {
            throw new BackendUnavailableException("connecting to NATS failed: " + e, e);
        }
    }
}
