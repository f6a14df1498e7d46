// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.contender;

import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.options.GetOption;
import io.etcd.jetcd.options.OptionsUtil;
import io.etcd.jetcd.options.WatchOption;
import io.etcd.jetcd.watch.WatchEvent;
import io.etcd.jetcd.watch.WatchResponse;
import io.mortise.lock.etcd.connection.EtcdRequestSender;
import io.mortise.lock.etcd.connection.FailFastKeyRangeWatch;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.AcquireFailed;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.RemovalFailed;
import io.mortise.lock.etcd.contender.ModelledRequest.Kind;
import io.mortise.lock.etcd.contender.ModelledRequest.Origin;
import io.mortise.lock.etcd.queue.EtcdKeyLayout;
import io.mortise.lock.etcd.queue.QueueReplica.ContenderKey;
import io.mortise.lock.etcd.session.EtcdSession;
import io.mortise.lock.etcd.session.EtcdSessionManager;
import io.mortise.lock.explorer.etcd.EtcdStore;
import io.mortise.lock.explorer.etcd.EtcdStore.Event;
import io.mortise.lock.explorer.etcd.EtcdStore.Outcome;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.LockRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Compares the model of etcd with a real server, and the model's requests with those of production: random requests of two sessions,
 * with the events of a watch, and the ends of sessions. Each sequence has a lock of its own; the sessions are used for many sequences,
 * also with the epochs of those before.
 */
final class EtcdModelComparison {
    /** Longer than the test: the end of a lease with a key would be a revision that the model does not have. */
    static final Duration LEASE = Duration.ofHours(1);

    private static final int STEPS = 40;
    private static final List<Kind> KINDS = List.of(Kind.values()); // puts come first, and most often
    private static final EtcdKeyLayout KEYS = new EtcdKeyLayout("m/");

    /** A session, and the contenders for the present lock on it. */
    private record RealSession(EtcdSessionManager manager, EtcdSession session, List<RealContender> contenders) {}

    private record RealContender(EtcdQueueEntry entry, EtcdContenderRequests requests, Request request) {}

    private record Request(LockName name, String attemptId, boolean mayWait) implements LockRequest {
        @Override
        public String ownerRecord() {
            return attemptId;
        }

        @Override
        public Duration leaseDuration() {
            return LEASE;
        }
    }

    private final EtcdRequestSender requests;
    private final BackendContext context;
    private final BlockingQueue<EtcdContenderEvent> answers = new LinkedBlockingQueue<>();
    private final BlockingQueue<Event> realEvents = new LinkedBlockingQueue<>();
    private final List<Event> modelEvents = new ArrayList<>();
    private final List<Object> trace = new ArrayList<>(); // made into text for a failure only
    private final List<RealSession> sessions = new ArrayList<>();
    private EtcdStore model = EtcdStore.empty(0);
    private LockName lock = new LockName("none");
    private String prefix = KEYS.contenderPrefix(lock);

    EtcdModelComparison(EtcdRequestSender requests, BackendContext context) {
        this.requests = requests;
        this.context = context;
    }

    /** Compares sequences, which are made from the numbers. */
    void compare(IntStream seeds) throws Exception {
        model = EtcdStore.empty(await(requests.get("revision", EtcdKeyLayout.bytes("none"), GetOption.DEFAULT))
                .getHeader()
                .getRevision());
        for (int i = 0; i < 2; i++) {
            sessions.add(open());
        }
        for (int seed : seeds.toArray()) {
            Random random = new Random(seed);
            start(new LockName("a" + seed));
            FailFastKeyRangeWatch watch = watch();
            for (int step = 0; step < STEPS; step++) {
                step(random);
            }
            compareEvents();
            watch.close();
        }
        for (RealSession each : sessions) {
            each.manager.close();
        }
    }

    /** Forgets the keys and leases of the lock before, which no request names any more. */
    private void start(LockName next) {
        trace.clear();
        TreeMap<String, EtcdStore.Entry> kept = new TreeMap<>(model.keys());
        kept.keySet().removeIf(key -> key.startsWith(prefix));
        TreeSet<Long> leases = new TreeSet<>();
        sessions.forEach(each -> leases.add(each.session.leaseId()));
        model = new EtcdStore(kept, leases, model.revision());
        lock = next;
        prefix = KEYS.contenderPrefix(lock);
        sessions.replaceAll(each -> new RealSession(each.manager, each.session, contenders(each.session)));
    }

    private FailFastKeyRangeWatch watch() throws Exception {
        CompletableFuture<Boolean> created = new CompletableFuture<>();
        FailFastKeyRangeWatch watch = FailFastKeyRangeWatch.open(
                requests,
                EtcdKeyLayout.bytes(prefix),
                WatchOption.builder().withRange(OptionsUtil.prefixEndOf(EtcdKeyLayout.bytes(prefix))),
                new FailFastKeyRangeWatch.Listener() {
                    @Override
                    public void created() {
                        created.complete(true);
                    }

                    @Override
                    public void changed(WatchResponse events) {
                        for (WatchEvent event : events.getEvents()) {
                            KeyValue key = event.getKeyValue();
                            realEvents.add(
                                    new Event(key.getKey().toString(), key.getCreateRevision(), key.getModRevision()));
                        }
                    }

                    @Override
                    public void ended(Throwable cause) {
                        created.completeExceptionally(cause);
                    }
                });
        created.get(30, TimeUnit.SECONDS);
        return watch;
    }

    private RealSession open() throws Exception {
        EtcdSessionManager manager = new EtcdSessionManager(requests, KEYS, context, LEASE);
        EtcdSession session = manager.current();
        await(session.ready());
        model = model.withLease(session.leaseId());
        apply(new EtcdStore.Txn(
                List.of(),
                List.of(new EtcdStore.Put(session.sessionKey().toString(), "s", session.leaseId())),
                List.of()));
        return new RealSession(manager, session, contenders(session));
    }

    private List<RealContender> contenders(EtcdSession session) {
        List<RealContender> contenders = new ArrayList<>();
        EtcdSession.Slot first = session.joinQueue(lock, () -> {});
        for (int i = 0; i < 3; i++) { // two of them in the same slot
            int slot = i == 0 ? first.slot() : 1;
            Request request = new Request(lock, "record" + session.leaseIdHex() + i, i != 1);
            contenders.add(new RealContender(
                    EtcdQueueEntry.withoutKey(session, first.queue(), slot),
                    new EtcdContenderRequests(requests, request, answers::add),
                    request));
        }
        return contenders;
    }

    private void step(Random random) throws Exception {
        int index = random.nextInt(sessions.size());
        RealSession on = sessions.get(index);
        long lease = on.session.leaseId();
        if (random.nextInt(20) == 0) {
            await(requests.revoke(lease));
            publish(model.revoke(lease));
            trace.add("revoked");
        }
        RealContender contender = on.contenders.get(random.nextInt(on.contenders.size()));
        String key = contender.entry.key().toString();
        EtcdStore.@Nullable Entry present = model.keys().get(key);
        long revision = present == null || random.nextInt(4) == 0 ? model.revision() - 1 : present.createRevision();
        EtcdQueueEntry entry = contender.entry.withCreateRevision(revision);
        Kind kind = KINDS.get(Math.max(0, random.nextInt(KINDS.size() + 4) - 4));
        boolean newEpoch = random.nextBoolean();
        long number = 0;
        @Nullable ContenderKey ahead = null;
        switch (kind) {
            case PUT -> {
                number = Math.max(1, on.session.epoch() - random.nextInt(5) / 4);
                contender.requests.put(entry, number);
            }
            case READ -> contender.requests.read(entry);
            case CHECK -> contender.requests.check(entry);
            case GIVE_WAY -> {
                List<String> queue = model.queue(prefix);
                String other = queue.isEmpty() ? prefix + "none" : queue.get(random.nextInt(queue.size()));
                EtcdStore.@Nullable Entry found = model.keys().get(other);
                ahead = new ContenderKey(EtcdKeyLayout.bytes(other), found == null ? 1 : found.createRevision());
                contender.requests.giveWay(entry, ahead);
            }
            case DELETE -> contender.requests.delete(entry);
            case DELETE_IF_OWN -> contender.requests.deleteIfOwn(entry);
            case WITHDRAW -> contender.requests.withdraw(entry, newEpoch);
            case MOVE -> {
                number = await(requests.grant("delay", LEASE)).getID();
                model = model.withLease(number);
                contender.requests.move(entry, number, newEpoch);
            }
        }
        Origin origin = new Origin(
                prefix,
                key,
                contender.request.ownerRecord(),
                on.session.sessionKey().toString(),
                "s",
                lease,
                contender.request.mayWait());
        compare(new ModelledRequest(kind, origin, revision, number, ahead, newEpoch), on);
        if (!model.leases().contains(lease)) {
            on.manager.close();
            sessions.set(index, open());
        }
    }

    private void compare(ModelledRequest request, RealSession on) throws Exception {
        EtcdContenderEvent actual = answers.poll(30, TimeUnit.SECONDS);
        if (actual instanceof EtcdContenderEvent.KeyPut put) { // other lanes have put keys too
            assertThat(put.revision()).as("%s", trace).isGreaterThan(model.revision());
            model = new EtcdStore(model.keys(), model.leases(), put.revision() - 1);
        }
        Outcome outcome = apply(request.transaction());
        trace.add(List.of(request, outcome.result()));
        boolean sessionOver = outcome.result()
                .flatMap(request::epoch)
                .filter(epoch -> epoch == 0)
                .isPresent();
        if (outcome.result().isEmpty() || sessionOver) {
            assertThat(actual).as("%s", trace).isInstanceOfAny(AcquireFailed.class, RemovalFailed.class);
            return;
        }
        outcome.result()
                .flatMap(request::epoch)
                .ifPresent(
                        epoch -> assertThat(on.session.epoch()).as("%s", trace).isGreaterThanOrEqualTo(epoch));
        assertThat(actual)
                .as("%s", trace)
                .isEqualTo(request.event(outcome.result().get(), outcome.next().revision(), on.session.epoch()));
    }

    private Outcome apply(EtcdStore.Txn txn) {
        Outcome outcome = model.apply(txn);
        publish(outcome);
        return outcome;
    }

    private void publish(Outcome outcome) {
        model = outcome.next();
        outcome.events().stream()
                .filter(event -> event.key().startsWith(prefix))
                .forEach(modelEvents::add);
    }

    private void compareEvents() throws Exception {
        List<Event> received = new ArrayList<>();
        while (received.size() < modelEvents.size()) {
            Event event = realEvents.poll(30, TimeUnit.SECONDS);
            assertThat(event).as("an event after %s", trace).isNotNull();
            received.add(event);
        }
        assertThat(ranked(received)).as("%s", trace).isEqualTo(ranked(modelEvents));
        assertThat(realEvents).as("%s", trace).isEmpty();
        modelEvents.clear();
    }

    /** Replaces the revisions of events by their ranks, since the other lanes have some of the revisions between them. */
    private static List<Event> ranked(List<Event> events) {
        List<Long> revisions = events.stream().map(Event::revision).distinct().toList();
        return events.stream()
                .map(event -> new Event(event.key(), event.createRevision(), revisions.indexOf(event.revision())))
                .toList();
    }

    private static <T> T await(CompletionStage<T> stage) throws Exception {
        return stage.toCompletableFuture().get(30, TimeUnit.SECONDS);
    }
}
