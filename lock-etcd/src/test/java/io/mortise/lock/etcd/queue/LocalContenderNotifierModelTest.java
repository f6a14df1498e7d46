// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.queue;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.RangeResponse;
import io.etcd.jetcd.api.ResponseHeader;
import io.etcd.jetcd.kv.GetResponse;
import io.etcd.jetcd.watch.WatchResponse;
import io.mortise.lock.etcd.contender.ModelledSession;
import io.mortise.lock.etcd.contender.ModelledSession.Notification;
import io.mortise.lock.explorer.etcd.EtcdStore;
import io.mortise.lock.explorer.etcd.EtcdStore.Event;
import io.mortise.lock.explorer.etcd.EtcdStore.Outcome;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Tests that the notifier in the explored world notifies the same contenders as that of production, on random events. */
class LocalContenderNotifierModelTest {
    private static final int SEQUENCES = 3_000;
    private static final int STEPS = 40;
    private static final String PREFIX = "a/";

    private final List<String> actual = new ArrayList<>();
    private final List<String> expected = new ArrayList<>();
    private final List<TestMember> members = new ArrayList<>();
    private final List<List<Event>> arriving = new ArrayList<>();
    private LocalContenderNotifier notifier = new LocalContenderNotifier();
    private ModelledSession model = new ModelledSession(1);
    private EtcdStore store = EtcdStore.empty(1);
    private int count;

    private final class TestMember implements LocalContenderNotifier.Member {
        private final int number;
        private final String key;
        private final long revision;

        TestMember(int number, String key, long revision) {
            this.number = number;
            this.key = key;
            this.revision = revision;
        }

        ModelledSession.Member modelled() {
            return new ModelledSession.Member(number, revision);
        }

        @Override
        public QueueReplica.ContenderKey contenderKey() {
            return new QueueReplica.ContenderKey(EtcdKeyLayout.bytes(key), revision);
        }

        @Override
        public void firstInQueue() {
            actual.add(number + " " + Notification.FIRST_IN_QUEUE);
        }

        @Override
        public void deleted() {
            actual.add(number + " " + Notification.DELETED);
        }
    }

    private void expect(int contender, Notification what) {
        expected.add(contender + " " + what);
    }

    @Test
    void S11_theModelNotifiesAsProductionDoes() {
        int notifications = 0;
        for (int seed = 0; seed < SEQUENCES; seed++) {
            Random random = new Random(seed);
            notifier = new LocalContenderNotifier();
            model = new ModelledSession(1);
            store = EtcdStore.empty(1);
            arriving.clear();
            members.clear();
            for (int step = 0; step < STEPS; step++) {
                step(random);
                assertThat(actual).as("seed %s, step %s", seed, step).containsExactlyInAnyOrderElementsOf(expected);
                notifications += actual.size();
                actual.clear();
                expected.clear();
            }
        }
        assertThat(notifications).isGreaterThan(SEQUENCES);
    }

    private void step(Random random) {
        switch (random.nextInt(10)) {
            case 0, 1, 2 -> write(PREFIX + random.nextInt(4));
            case 3, 4, 5 -> {
                if (!arriving.isEmpty()) {
                    List<Event> events = arriving.remove(0);
                    run(notifier.changed(response(events)));
                    model.changed(events, this::expect);
                }
            }
            case 6 -> add(PREFIX + random.nextInt(4), random.nextInt(4) == 0);
            case 7 -> {
                if (!members.isEmpty()) {
                    changeMember(members.get(random.nextInt(members.size())), random.nextBoolean());
                }
            }
            case 8 -> {
                run(notifier.refreshed(read()));
                model.refreshed(store, PREFIX, this::expect);
            }
            default -> {
                if (random.nextInt(3) == 0) {
                    notifier.markOutdated();
                    model.endWatch(true);
                    arriving.clear();
                }
            }
        }
    }

    private void write(String key) {
        boolean exists = store.keys().containsKey(key);
        EtcdStore.Op op = exists ? new EtcdStore.Delete(key, false) : new EtcdStore.Put(key, "", 0);
        Outcome outcome = store.apply(new EtcdStore.Txn(List.of(), List.of(op), List.of()));
        store = outcome.next();
        arriving.add(outcome.events());
    }

    /** Adds a contender, also one whose key was deleted meanwhile, unless another has that key in the client. */
    private void add(String key, boolean holds) {
        EtcdStore.Entry entry = store.keys().get(key);
        if (entry != null && members.stream().noneMatch(member -> member.key.equals(key))) {
            TestMember added = new TestMember(count++, key, entry.createRevision());
            members.add(added);
            run(notifier.add(added, holds));
            model.addMember(key, added.modelled(), holds, this::expect);
        }
    }

    private void changeMember(TestMember member, boolean leaves) {
        if (leaves) {
            members.remove(member);
            notifier.remove(member);
            model.removeMember(member.key, member.modelled());
        } else {
            List<Runnable> notifications = new ArrayList<>();
            boolean isNotified = notifier.becameHolder(member, notifications);
            run(notifications);
            assertThat(model.becameHolder(member.key, member.modelled(), this::expect))
                    .isEqualTo(isNotified);
        }
    }

    private static void run(List<Runnable> notifications) {
        notifications.forEach(Runnable::run);
    }

    private GetResponse read() {
        RangeResponse.Builder found =
                RangeResponse.newBuilder().setHeader(ResponseHeader.newBuilder().setRevision(store.revision()));
        for (String key : store.queue(PREFIX)) {
            found.addKvs(KeyValue.newBuilder()
                    .setKey(ByteString.copyFromUtf8(key))
                    .setCreateRevision(
                            Objects.requireNonNull(store.keys().get(key)).createRevision()));
        }
        return new GetResponse(found.build(), ByteSequence.EMPTY);
    }

    private static WatchResponse response(List<Event> events) {
        io.etcd.jetcd.api.WatchResponse.Builder response = io.etcd.jetcd.api.WatchResponse.newBuilder();
        for (Event event : events) {
            response.addEvents(io.etcd.jetcd.api.Event.newBuilder()
                    .setType(
                            event.isDeletion()
                                    ? io.etcd.jetcd.api.Event.EventType.DELETE
                                    : io.etcd.jetcd.api.Event.EventType.PUT)
                    .setKv(KeyValue.newBuilder()
                            .setKey(ByteString.copyFromUtf8(event.key()))
                            .setCreateRevision(event.createRevision())
                            .setModRevision(event.revision())));
        }
        return new WatchResponse(response.build());
    }
}
