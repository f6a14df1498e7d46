// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.contender;

import io.mortise.lock.etcd.contender.EtcdScope.Flaw;
import io.mortise.lock.etcd.contender.EtcdTraffic.Sent;
import io.mortise.lock.etcd.contender.ModelledRequest.Kind;
import io.mortise.lock.etcd.contender.ModelledRequest.Origin;
import io.mortise.lock.etcd.contender.ModelledSession.Watch;
import io.mortise.lock.explorer.etcd.EtcdStore;
import io.mortise.lock.explorer.etcd.EtcdStore.Event;
import io.mortise.lock.explorer.etcd.EtcdStore.Outcome;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The etcd cluster with the sessions of all clients, and what it may still execute of lost connections. */
final class ModelledEtcdCluster {
    static final String LOCK = "a/";
    private static final long FIRST_REVISION = 1_000_000_000_000_000L; // 16 digits, so that only its rank counts
    private static final long FIRST_DELAY = 100; // the leases of delays come after those of sessions

    EtcdStore store;
    final List<Sent> strays; // had no reply and may be executed
    private final EtcdScope scope;
    private final List<ModelledEtcdClient> clients;
    private long nextDelay = FIRST_DELAY;

    ModelledEtcdCluster(EtcdScope scope, List<ModelledEtcdClient> clients) {
        this.scope = scope;
        this.clients = clients;
        store = EtcdStore.empty(FIRST_REVISION);
        strays = new ArrayList<>();
    }

    /** Copies the cluster for the copied clients. */
    ModelledEtcdCluster(ModelledEtcdCluster from, List<ModelledEtcdClient> clients) {
        scope = from.scope;
        this.clients = clients;
        store = from.store;
        strays = new ArrayList<>(from.strays);
        nextDelay = from.nextDelay;
    }

    /** Returns the last session of the client that the lease is or was of. */
    ModelledSession sessionOf(long lease) {
        return clients.get((int) (lease / 10)).session;
    }

    static boolean isDelay(long lease) {
        return lease >= FIRST_DELAY;
    }

    /** Returns a number for the lease of a delay. */
    long newDelay() {
        return nextDelay++;
    }

    boolean hasKeyOf(ModelledSession session) {
        return store.keys().containsKey(session.key());
    }

    /** Returns the names of the lock's keys, the oldest first. */
    List<String> queue() {
        return store.queue(LOCK);
    }

    /** Returns the oldest of the lock's keys. */
    Optional<EtcdStore.Entry> head() {
        return queue().stream().findFirst().map(key -> store.keys().get(key));
    }

    /** Returns what a read of the queue shows. */
    EtcdStore readQueue() {
        TreeMap<String, EtcdStore.Entry> found = new TreeMap<>();
        queue().forEach(key -> found.put(key, store.keys().get(key)));
        return new EtcdStore(found, new TreeSet<>(), store.revision());
    }

    ModelledSession openSession(int client, int number) {
        ModelledSession session = new ModelledSession(client * 10L + number + 1);
        store = store.withLease(session.lease);
        apply(new EtcdStore.Txn(List.of(), List.of(new EtcdStore.Put(session.key(), "s", session.lease)), List.of()));
        return session;
    }

    Outcome apply(EtcdStore.Txn txn) {
        Outcome outcome = store.apply(txn);
        publish(outcome);
        return outcome;
    }

    void delete(String key) {
        apply(new EtcdStore.Txn(List.of(), List.of(new EtcdStore.Delete(key, false)), List.of()));
    }

    void endLease(long lease) {
        publish(store.revoke(lease));
    }

    private void publish(Outcome outcome) {
        store = outcome.next();
        List<Event> events = outcome.events().stream()
                .filter(event -> event.key().startsWith(LOCK))
                .toList();
        if (!events.isEmpty()) {
            clients.stream()
                    .filter(client -> client.session.watch == Watch.REGISTERED)
                    .forEach(client -> client.session.arriving.add(events));
        }
    }

    /** Returns the transaction of a request, or one with a defect. */
    EtcdStore.Txn transaction(ModelledRequest request) {
        EtcdStore.Txn txn = request.transaction();
        if (request.kind() == Kind.MOVE && scope.has(Flaw.MOVE_PUTS_SESSION_KEY)) {
            List<EtcdStore.Op> then = txn.then().stream()
                    .flatMap(op -> op instanceof EtcdStore.Txn inner ? inner.then().stream() : Stream.of(op))
                    .collect(Collectors.toUnmodifiableList());
            return new EtcdStore.Txn(txn.compares(), then, txn.otherwise());
        }
        boolean isFlawed = (request.kind() == Kind.PUT && scope.has(Flaw.PUT_IN_ANY_EPOCH))
                || (request.kind() == Kind.GIVE_WAY && scope.has(Flaw.GIVE_WAY_WITH_ANY_KEY));
        return isFlawed ? new EtcdStore.Txn(txn.compares().subList(0, 1), txn.then(), txn.otherwise()) : txn;
    }

    // ---- what has no effect any more

    /** Forgets requests that would do nothing, and leases of sessions that have ended and that no key or request names. */
    void forgetEffectless() {
        strays.removeIf(stray -> !mayChangeStore(stray));
        List.copyOf(store.leases()).stream().filter(this::isUseless).forEach(this::endLease);
    }

    private boolean isUseless(long lease) {
        return !isDelay(lease)
                && (sessionOf(lease).lease != lease || sessionOf(lease).ended)
                && store.keys().entrySet().stream()
                        .noneMatch(each -> each.getKey().startsWith(LOCK)
                                && each.getValue().lease() == lease)
                && Stream.concat(clients.stream().flatMap(client -> client.sent.stream()), strays.stream())
                        .noneMatch(sent ->
                                sent.request() != null && sent.request().from().lease() == lease);
    }

    /** Returns whether the execution of a request may change the store, now or later. */
    boolean mayChangeStore(Sent sent) {
        ModelledRequest request = sent.request();
        if (request == null) {
            return false; // nobody uses a lease without its reply
        }
        Origin from = request.from();
        boolean isOver = !store.leases().contains(from.lease()) && !store.keys().containsKey(from.key());
        return switch (request.kind()) {
            case READ, CHECK -> false;
            case PUT, GIVE_WAY, DELETE, DELETE_IF_OWN, WITHDRAW, MOVE ->
                !isOver && transaction(request).compares().stream().noneMatch(this::isFalseForEver);
        };
    }

    /** Revisions and versions rise, and a session's key is not put again after it was deleted. */
    private boolean isFalseForEver(EtcdStore.Compare compare) {
        if (compare instanceof EtcdStore.CreatedAt at) {
            return at.revision() > 0 && store.createRevision(at.key()) != at.revision();
        }
        if (compare instanceof EtcdStore.HasVersion has) {
            EtcdStore.Entry entry = store.keys().get(has.key());
            return entry == null || entry.version() > has.version();
        }
        return compare instanceof EtcdStore.Exists exists && !store.keys().containsKey(exists.key());
    }
}
