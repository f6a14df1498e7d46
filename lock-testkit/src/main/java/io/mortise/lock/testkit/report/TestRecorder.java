// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.report;

import io.mortise.lock.LockClient;
import io.mortise.lock.LossReason;
import io.mortise.lock.spi.LockBackend;
import io.mortise.lock.spi.testing.BackendInterception;
import io.mortise.lock.testkit.report.LockEvent.Kind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Records the events of one test: the lock requests, grants and losses of each client, and the faults that the kit injected.
 *
 * <p>It sees the requests of each client that {@link #open} opens, where the core calls the backend. It keeps the latest {@value
 * #MAX_EVENTS} events. Thread-safe.
 */
public final class TestRecorder {
    static final String ACQUIRE = "acquire";
    static final String RENEW = "renew";
    static final String RELEASE = "release";

    /** From the fault of a holder until the next client is granted its lock. */
    static final String TAKEOVER = "takeover";

    /** From the notice of a loss until the next client is granted the lock; negative if the notice came later. */
    static final String NOTICE = "notice";

    private static final String BUSY = "busy";
    private static final int MAX_EVENTS = 2000;
    private static final int MAX_SAMPLES = 100;
    private static final int MAX_WITHDRAWALS = 20;
    private static final Duration JUST_NOW = Duration.ofSeconds(1);
    private static final int ATTEMPT_DIGITS = 6;

    private final Path directory;
    private final long start = System.nanoTime();
    private final Deque<LockEvent> events = new ArrayDeque<>();
    private final Map<LockClient, ClientLinkState> clients = new HashMap<>();
    private final List<FaultEffectRecord> faults = new ArrayList<>();
    private final List<LostReplyRecord> lostReplies = new ArrayList<>();
    private final Map<String, List<GrantRecord>> grants = new TreeMap<>();
    private final Map<String, List<Long>> timings = new TreeMap<>();
    private final Map<String, Pending> pending = new TreeMap<>();
    private final Deque<Withdrawal> lastWithdrawals = new ArrayDeque<>();
    private int opened;
    private @Nullable BackendFacts facts;
    private @Nullable FaultEffectRecord serverFault;

    /** A request for a lock that has no outcome yet. */
    private record Pending(ClientLinkState client, String lock, long since, String lastReply) {}

    /** A request for a lock that was withdrawn, and when. */
    private record Withdrawal(Pending request, long at) {}

    /** @param directory where the test may write files for people to read */
    TestRecorder(Path directory) {
        this.directory = directory;
    }

    /** Creates an empty file beside the report. */
    public Path newFile(String prefix, String suffix) throws IOException {
        return Files.createTempFile(Files.createDirectories(directory.resolve("histories")), prefix, suffix);
    }

    /** Opens a client, and records its requests from then on. */
    public LockClient open(Supplier<LockClient> open) {
        ClientLinkState record;
        synchronized (this) {
            record = new ClientLinkState("client " + ++opened);
        }
        LockClient client = BackendInterception.during(backend -> recording(backend, record), open);
        synchronized (this) {
            clients.put(client, record);
            add(now(), Kind.OPENED, record, "", "", "");
        }
        return client;
    }

    private synchronized LockBackend recording(LockBackend backend, ClientLinkState record) {
        record.backend = backend;
        return new RecordingBackend(backend, record, this);
    }

    /** Returns the backend of a client, for calls that send no request; empty if the client was not opened through the core. */
    public synchronized Optional<LockBackend> backend(LockClient client) {
        ClientLinkState record = clients.get(client);
        return Optional.ofNullable(record == null ? null : record.backend);
    }

    /** Sets the facts about the backend; a later call replaces them. */
    public synchronized void facts(BackendFacts known) {
        facts = known;
    }

    synchronized @Nullable BackendFacts facts() {
        return facts;
    }

    /** Returns the time since the test began, in nanoseconds; never zero. */
    public long now() {
        return System.nanoTime() - start + 1;
    }

    /** Returns the client's name in the events. */
    public synchronized String nameOf(LockClient client) {
        ClientLinkState record = clients.get(client);
        return record == null ? "a client" : record.name;
    }

    /** Returns how many renewals of the client's grants the store has confirmed. */
    public synchronized int renewals(LockClient client) {
        ClientLinkState record = clients.get(client);
        return allGrants().stream()
                .filter(grant -> grant.client == record)
                .mapToInt(grant -> grant.renewals)
                .sum();
    }

    /** Returns whether the store's latest reply to a request of the client for the lock was "busy". */
    public synchronized boolean isWaiting(LockClient client, String lock) {
        ClientLinkState record = clients.get(client);
        return pending.values().stream()
                .anyMatch(request -> request.client() == record
                        && request.lock().equals(lock)
                        && request.lastReply().equals(BUSY));
    }

    /**
     * Records a fault on the client's link that prevents replies until {@link #linkHealed}.
     *
     * @param at when the fault was injected, from {@link #now}
     */
    public void linkFault(LockClient client, String fault, long at) {
        linkFault(client, new FaultEffectRecord(fault, at, null), fault);
    }

    /** Records a delay on the client's link. */
    public void linkDelay(LockClient client, Duration oneWay, long at) {
        linkFault(client, new FaultEffectRecord("delay", at, oneWay), "delay of " + oneWay.toMillis() + " ms each way");
    }

    private void linkFault(LockClient client, FaultEffectRecord fault, String text) {
        endLostReply(client);
        synchronized (this) {
            ClientLinkState record = clients.get(client);
            if (record != null) {
                record.fault = fault;
                faults.add(fault);
                add(fault.startedAt, Kind.FAULT, record, "", "", text);
            }
        }
    }

    /**
     * Records that the client's next reply is dropped; the link works otherwise.
     *
     * @param dropped returns how many replies the link has dropped since; empty if it does not count them
     */
    public void replyDropped(LockClient client, long at, Supplier<OptionalInt> dropped) {
        endLostReply(client);
        synchronized (this) {
            ClientLinkState record = clients.get(client);
            if (record != null) {
                LostReplyRecord lost = new LostReplyRecord(dropped);
                record.lostReply = lost;
                lostReplies.add(lost);
            }
            add(at, Kind.FAULT, record, "", "", "the next reply is dropped");
        }
    }

    /** Completes the record of the reply that was to be dropped; not under the monitor, since it calls the link. */
    private void endLostReply(LockClient client) {
        LostReplyRecord ended = null;
        synchronized (this) {
            ClientLinkState record = clients.get(client);
            if (record != null) {
                ended = record.lostReply;
                record.lostReply = null;
            }
        }
        if (ended != null) {
            ended.end();
        }
    }

    /** Records that the link of the client works again; from then on replies say nothing about a fault. */
    public void linkHealed(LockClient client) {
        endLostReply(client);
        synchronized (this) {
            ClientLinkState record = clients.get(client);
            if (record != null) {
                record.fault = null;
                add(now(), Kind.HEALED, record, "", "", "");
            }
        }
    }

    /** Records that all faults end and all clients close now, with the test or a part of it, and forgets the clients. */
    public void allHealed() {
        List<LostReplyRecord> ended = new ArrayList<>();
        synchronized (this) {
            serverFault = null;
            clients.values().forEach(client -> client.fault = null);
            clients.values().stream()
                    .map(client -> client.lostReply)
                    .filter(Objects::nonNull)
                    .forEach(ended::add);
            clients.clear();
            grants.clear();
        }
        ended.forEach(LostReplyRecord::end);
    }

    /** Removes the grant of a lock from the store by the given action, and records that. */
    public void deleteGrant(String lock, Runnable delete) {
        FaultEffectRecord fault;
        synchronized (this) {
            fault = new FaultEffectRecord("deleteGrant", now(), null);
            fault.remove(held(lock));
        }
        delete.run();
        removed(fault, null, lock);
    }

    /** Ends the session or the leases of a client in the store by the given action, and records that. */
    public void expireSession(LockClient client, Runnable expire) {
        FaultEffectRecord fault;
        ClientLinkState record;
        synchronized (this) {
            record = clients.get(client);
            fault = new FaultEffectRecord("expireSession", now(), null);
            fault.remove(allGrants().stream()
                    .filter(grant -> grant.client == record && grant.isHeld())
                    .toList());
        }
        expire.run();
        removed(fault, record, "");
    }

    private synchronized void removed(FaultEffectRecord fault, @Nullable ClientLinkState client, String lock) {
        fault.inEffectAt = now();
        if (!fault.removed.isEmpty()) { // else nothing can confirm it
            faults.add(fault);
        }
        add(fault.startedAt, Kind.FAULT, client, lock, "", fault.fault);
    }

    /** Records that the server was stopped. */
    public synchronized void serverStopped(long at) {
        FaultEffectRecord fault = new FaultEffectRecord("stopServer", at, null);
        serverFault = fault;
        faults.add(fault);
        add(at, Kind.FAULT, null, "", "", "the server is stopped");
    }

    /** Records that the server is about to start, from which moment on it may reply. */
    public synchronized void serverStarting() {
        serverFault = null;
        add(now(), Kind.HEALED, null, "", "", "the server is started");
    }

    synchronized void failed(String message) {
        add(now(), Kind.FAILED, null, "", "", message);
    }

    synchronized StoreRequestRecord sent(ClientLinkState client) {
        FaultEffectRecord fault = serverFault != null ? serverFault : client.fault;
        if (fault != null) {
            fault.sent++;
        }
        return new StoreRequestRecord(client, now(), fault, client.lostReply);
    }

    synchronized void requested(ClientLinkState client, String lock, String attempt) {
        pending.put(attempt, new Pending(client, lock, now(), "none"));
        add(now(), Kind.REQUESTED, client, lock, attempt, "");
    }

    synchronized void waiting(StoreRequestRecord request, String lock, String attempt) {
        ClientLinkState client = request.client();
        request.answered();
        Pending before = pending.put(attempt, new Pending(client, lock, sinceOf(attempt), BUSY));
        if (before == null || !before.lastReply().equals(BUSY)) {
            add(now(), Kind.WAITING, client, lock, attempt, "");
        }
    }

    synchronized void unanswered(StoreRequestRecord request, String lock, String attempt, Throwable failure) {
        ClientLinkState client = request.client();
        request.unanswered();
        String why = String.valueOf(failure.getMessage());
        Pending before = pending.get(attempt);
        if (before != null) {
            pending.put(attempt, new Pending(client, lock, before.since(), why));
        }
        add(now(), Kind.UNANSWERED, client, lock, attempt, why);
    }

    synchronized void displaced(ClientLinkState client, String lock, String attempt, String why) {
        pending.remove(attempt);
        add(now(), Kind.ENDED, client, lock, attempt, "displaced: " + why);
    }

    private long sinceOf(String attempt) {
        Pending before = pending.get(attempt);
        return before == null ? now() : before.since();
    }

    /** @param firstAttempt whether the grant is the reply to the first request, not to one that waited in a queue */
    synchronized GrantRecord granted(
            StoreRequestRecord request, String lock, String attempt, String detail, boolean firstAttempt) {
        long now = now();
        pending.remove(attempt);
        for (GrantRecord earlier : grants.getOrDefault(lock, List.of())) {
            superseded(earlier, request.client(), now);
        }
        GrantRecord grant = new GrantRecord(request.client(), lock, attempt, now);
        grants.computeIfAbsent(lock, name -> new ArrayList<>()).add(grant);
        forgetOldGrants(lock);
        add(now, Kind.GRANTED, grant.client, lock, attempt, detail);
        if (firstAttempt) {
            answered(request, ACQUIRE, "an acquire of " + grant.client.name);
        }
        return grant;
    }

    private void superseded(GrantRecord earlier, ClientLinkState by, long now) {
        if (earlier.supersededAt != 0 || (earlier.endingAt != 0 && earlier.lostAt == 0)) {
            return;
        }
        earlier.supersededAt = now;
        FaultEffectRecord fault = earlier.client.fault;
        if (fault != null && fault.oneWay == null && earlier.client != by) {
            sample(TAKEOVER, now - fault.startedAt);
        }
        if (earlier.lostAt != 0 && expired(earlier)) {
            sample(NOTICE, now - earlier.lostAt);
        }
    }

    private static boolean expired(GrantRecord grant) {
        return grant.wasTakenByTheStore()
                && !grant.removedByTheKit
                && grant.loss != null
                && grant.loss.kind() != LossReason.Kind.REMOVED;
    }

    /** Keeps memory bounded in tests that acquire one lock very often. */
    private void forgetOldGrants(String lock) {
        List<GrantRecord> all = grants.getOrDefault(lock, List.of());
        if (all.size() > MAX_SAMPLES) {
            all.removeIf(grant -> !grant.isHeld() && (grant.lostAt == 0 || grant.supersededAt != 0));
        }
    }

    /** Records that a renewal had no reply. */
    synchronized void renewalUnanswered(StoreRequestRecord request) {
        request.unanswered();
    }

    /** @param ownValidity whether the renewal was for this grant, and not for a session on which it depends */
    synchronized void renewed(GrantRecord grant, @Nullable StoreRequestRecord request, boolean ownValidity) {
        grant.renewals++;
        if (request != null) {
            grant.renewalSentAt = ownValidity ? request.sentAt() : 0;
            // Other requests of a session prove it too, so its renewals are no evidence.
            answered(request, RENEW, ownValidity ? "a renewal of " + grant.client.name : "");
        }
        add(now(), Kind.RENEWED, grant.client, grant.lock, grant.attempt, "");
    }

    synchronized void lost(GrantRecord grant, LossReason reason) {
        if (grant.lostAt == 0 && grant.endingAt == 0) {
            grant.lostAt = now();
            grant.loss = reason;
            if (grant.supersededAt != 0 && expired(grant)) {
                sample(NOTICE, grant.supersededAt - grant.lostAt);
            }
            add(grant.lostAt, Kind.LOST, grant.client, grant.lock, grant.attempt, reason.toString());
        }
    }

    synchronized void ending(ClientLinkState client, String lock, String attempt, @Nullable GrantRecord grant) {
        Pending withdrawn = pending.remove(attempt);
        if (grant == null || grant.endingAt == 0) {
            long now = now();
            if (withdrawn != null) {
                lastWithdrawals.add(new Withdrawal(withdrawn, now));
                if (lastWithdrawals.size() > MAX_WITHDRAWALS) {
                    lastWithdrawals.remove();
                }
            }
            if (grant != null) {
                grant.endingAt = now;
            }
            add(now, Kind.ENDING, client, lock, attempt, "");
        }
    }

    synchronized void ended(
            StoreRequestRecord request, String lock, String attempt, @Nullable GrantRecord grant, boolean wasThere) {
        if (grant != null) {
            grant.wasThere = wasThere;
            if (wasThere && grant.lostAt == 0) {
                answered(request, RELEASE, "");
            }
        }
        add(now(), Kind.ENDED, request.client(), lock, attempt, wasThere ? "removed" : "nothing was there");
    }

    /** @param what names the request if a reply contradicts a fault; empty if a backend may give that reply on its own */
    private void answered(StoreRequestRecord request, String timing, String what) {
        long took = now() - request.sentAt();
        request.answered();
        FaultEffectRecord fault = request.fault();
        if (fault == null) {
            if (request.client().fault == null && serverFault == null) {
                sample(timing, took);
            }
        } else if (!what.isEmpty() && (fault == request.client().fault || fault == serverFault)) {
            fault.answered(what, took);
        }
    }

    private void sample(String timing, long nanos) {
        List<Long> samples = timings.computeIfAbsent(timing, name -> new ArrayList<>());
        if (samples.size() < MAX_SAMPLES) {
            samples.add(nanos / 1000);
        }
    }

    private void add(long at, Kind kind, @Nullable ClientLinkState client, String lock, String attempt, String detail) {
        if (events.size() == MAX_EVENTS) {
            events.removeFirst();
        }
        events.addLast(new LockEvent(
                at / 1000,
                kind,
                client == null ? "" : client.name,
                PrintableText.name(lock),
                attempt.substring(0, Math.min(ATTEMPT_DIGITS, attempt.length())),
                PrintableText.of(detail)));
    }

    private List<GrantRecord> held(String lock) {
        return grants.getOrDefault(lock, List.of()).stream()
                .filter(GrantRecord::isHeld)
                .toList();
    }

    private List<GrantRecord> allGrants() {
        return grants.values().stream().flatMap(List::stream).toList();
    }

    /** Returns the recorded events in the order of their times. */
    synchronized List<LockEvent> events() {
        return events.stream()
                .sorted(Comparator.comparingLong(LockEvent::atMicros))
                .toList();
    }

    synchronized Map<String, List<Long>> timings() {
        return timings.entrySet().stream().collect(Collectors.toMap(Map.Entry::getKey, e -> List.copyOf(e.getValue())));
    }

    synchronized List<FaultEffectCounts> hookChecks() {
        return Stream.concat(
                        faults.stream().map(FaultEffectRecord::check),
                        lostReplies.stream().map(LostReplyRecord::check))
                .toList();
    }

    /**
     * Returns the requests for locks that have no outcome yet, in words; empty if there are none. It includes those that were
     * withdrawn just now, since a thread that waits in vain for as long as the test withdraws its own request.
     */
    public synchronized List<String> pending() {
        long now = now();
        return Stream.concat(
                        pending.values().stream(),
                        lastWithdrawals.stream()
                                .filter(one -> now - one.at() < JUST_NOW.toNanos())
                                .map(Withdrawal::request))
                .map(one -> one.client().name + ": acquire of \"" + PrintableText.name(one.lock()) + "\", requested "
                        + (now - one.since()) / 1_000_000 + " ms ago, last reply: " + one.lastReply())
                .toList();
    }
}
