// SPDX-License-Identifier: Apache-2.0
package example.nats;

import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.ListableLeaseStore;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.ObservedExpiryDetector;
import io.mortise.lock.spi.OwnerRecordCodec;
import io.nats.client.Connection;
import io.nats.client.JetStreamApiException;
import io.nats.client.JetStreamManagement;
import io.nats.client.KeyValue;
import io.nats.client.KeyValueOptions;
import io.nats.client.api.KeyValueConfiguration;
import io.nats.client.api.KeyValueEntry;
import io.nats.client.api.StreamConfiguration;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Keeps each lock under one key of a NATS JetStream bucket. Each write is conditional on the key's revision, and the revision
 * of the write that took the lock is its token. NATS does not compare times, so a waiter times an unchanged revision itself.
 */
final class NatsStore implements ListableLeaseStore {
    private static final int WRONG_REVISION = 10071;
    private static final int BUCKET_NOT_FOUND = 10059;

    private final Connection connection;
    private final BackendContext context;
    private final ObservedExpiryDetector expiry;
    private final KeyValue locks;
    private final JetStreamManagement stream;
    private final String streamName;

    /** Creates the bucket too, which has no effect if it exists. */
    NatsStore(Connection connection, String bucket, BackendContext context) throws IOException, JetStreamApiException {
        this.connection = connection;
        this.context = context;
        this.expiry = new ObservedExpiryDetector(context.clock());
        KeyValueOptions options = KeyValueOptions.builder()
                .jsRequestTimeout(context.requestTimeout())
                .build();
        this.stream = connection.jetStreamManagement(options.getJetStreamOptions());
        // A bucket is a stream. Other buckets deny deletes, and keep a marker for each key that was ever used (S17).
        StreamConfiguration config =
                KeyValueConfiguration.builder(bucket).build().getBackingConfig();
        stream.addStream(StreamConfiguration.builder(config).denyDelete(false).build());
        this.streamName = config.getName();
        this.locks = connection.keyValue(bucket, options);
    }

    /**
     * The value of a key: the token, or 0 if it is the revision itself, the lease in ms, the client, and the owner record. A value
     * of another format is that of a foreign holder, whose grant has no lease: it ends when somebody deletes the key (S19).
     */
    private record Value(long token, Optional<Duration> lease, String client, String ownerRecord) {
        private static final Pattern FORMAT = Pattern.compile("(\\d{1,18}) (\\d{1,18}) (\\S+) (.*)", Pattern.DOTALL);

        static Value of(KeyValueEntry entry) {
            String text = Objects.requireNonNullElse(entry.getValueAsString(), "");
            Matcher fields = FORMAT.matcher(text);
            if (!fields.matches()) {
                return new Value(entry.getRevision(), Optional.empty(), "", text);
            }
            long token = Long.parseLong(fields.group(1));
            Duration lease = Duration.ofMillis(Long.parseLong(fields.group(2)));
            return new Value(
                    token == 0 ? entry.getRevision() : token, Optional.of(lease), fields.group(3), fields.group(4));
        }

        boolean isOf(String attempt) {
            return ownerRecord.startsWith(attempt);
        }

        byte[] bytes() {
            String text = token + " " + lease.orElseThrow().toMillis() + " " + client + " " + ownerRecord;
            return text.getBytes(StandardCharsets.UTF_8);
        }
    }

    @Override
    public CompletionStage<Answer> tryAcquire(LockName name, String ownerRecord, Duration lease) {
        String attempt = OwnerRecordCodec.attemptId(ownerRecord).orElseThrow();
        byte[] grant = new Value(0, Optional.of(lease), context.clientId(), ownerRecord).bytes();
        return context.callBlocking("acquire", () -> {
            while (true) { // until this attempt holds the lock, or another one
                KeyValueEntry entry = locks.get(key(name));
                if (entry != null) {
                    Value held = Value.of(entry);
                    if (held.isOf(attempt)) {
                        return new Answer.Token(held.token());
                    }
                    if (held.lease().isEmpty()
                            || !expiry.hasEnded(
                                    name,
                                    held.ownerRecord(),
                                    entry.getRevision(),
                                    held.lease().get())) {
                        return new Answer.HeldBy(held.ownerRecord());
                    }
                }
                Optional<Long> revision = write(name, grant, entry);
                if (revision.isPresent()) {
                    expiry.forget(name);
                    return new Answer.Token(revision.get());
                }
            }
        });
    }

    /** Writes the value if the key is still as read. Returns the new revision; empty if another client has changed the key. */
    private Optional<Long> write(LockName name, byte[] value, KeyValueEntry read)
            throws IOException, JetStreamApiException {
        try {
            String key = key(name);
            return Optional.of(read == null ? locks.create(key, value) : locks.update(key, value, read.getRevision()));
        } catch (JetStreamApiException e) {
            if (e.getApiErrorCode() == WRONG_REVISION) {
                return Optional.empty();
            }
            throw e;
        }
    }

    /** Renews each grant by a request of its own, and all of them at the same time. */
    @Override
    public CompletionStage<Set<Grant>> renew(Collection<Grant> grants, Duration lease) {
        Set<Grant> removed = ConcurrentHashMap.newKeySet();
        CompletableFuture<?>[] renewals = grants.stream()
                .map(grant -> context.callBlocking("renewal", () -> renewed(grant, lease) || removed.add(grant))
                        .toCompletableFuture())
                .toArray(CompletableFuture<?>[]::new);
        return CompletableFuture.allOf(renewals).thenApply(all -> removed);
    }

    private boolean renewed(Grant grant, Duration lease) throws IOException, JetStreamApiException {
        while (true) {
            KeyValueEntry entry = locks.get(key(grant.name()));
            if (entry == null || !Value.of(entry).isOf(grant.attemptId())) {
                return false;
            }
            Value held = Value.of(entry);
            Value extended = new Value(held.token(), Optional.of(lease), held.client(), held.ownerRecord());
            if (write(grant.name(), extended.bytes(), entry).isPresent()) {
                return true;
            }
        }
    }

    @Override
    public CompletionStage<Boolean> release(Grant grant) {
        String key = key(grant.name());
        return context.callBlocking("release", () -> {
            KeyValueEntry entry = locks.get(key);
            while (entry != null && Value.of(entry).isOf(grant.attemptId())) {
                try {
                    return stream.deleteMessage(streamName, entry.getRevision(), false); // exactly this revision
                } catch (JetStreamApiException e) {
                    KeyValueEntry now = locks.get(key);
                    if (now != null && now.getRevision() == entry.getRevision()) {
                        throw e; // no renewal was faster: the request itself failed
                    }
                    entry = now;
                }
            }
            return false;
        });
    }

    /** Returns false: whoever reads a revision first begins to count its time then, so a delay could last for ever. */
    @Override
    public boolean hasClock() {
        return false;
    }

    @Override
    public boolean isRefusal(Throwable failure) {
        return failure instanceof JetStreamApiException api && api.getApiErrorCode() == BUCKET_NOT_FOUND;
    }

    @Override
    public CompletionStage<Optional<StoredGrant>> find(LockName name) {
        return context.callBlocking("read", () -> stored(key(name)));
    }

    @Override
    public CompletionStage<List<StoredGrant>> list(String prefix, int limit, String after) {
        String afterKey = after.isEmpty() ? "" : key(new LockName(after));
        return context.callBlocking("list", () -> {
            List<StoredGrant> grants = new ArrayList<>();
            for (String key : new TreeSet<>(locks.keys())) {
                if (grants.size() < limit
                        && key.compareTo(afterKey) > 0
                        && name(key).filter(name -> name.value().startsWith(prefix)).isPresent()) {
                    stored(key).ifPresent(grants::add);
                }
            }
            return grants;
        });
    }

    private Optional<StoredGrant> stored(String key) throws IOException, JetStreamApiException {
        KeyValueEntry entry = locks.get(key);
        return entry == null ? Optional.empty() : name(key).map(name -> {
            Value held = Value.of(entry);
            return new StoredGrant(name, held.ownerRecord(), held.token());
        });
    }

    /** A key may contain letters, digits and few other characters; {@code =XX} stands for any other byte. */
    static String key(LockName name) {
        return escaped(name).replace('%', '=');
    }

    private static String escaped(LockName name) {
        return name.escape(b -> Character.isLetterOrDigit(b) || b == '-');
    }

    /** Returns the name; empty if the key is no lock's. */
    private static Optional<LockName> name(String key) {
        return LockName.ofEscaped(key.replace('=', '%'), NatsStore::escaped);
    }

    @Override
    public String endpoints() {
        return String.join(",", connection.getServers());
    }

    @Override
    public void close() {
        try {
            connection.close();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
