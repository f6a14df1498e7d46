// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.queue;

import io.mortise.lock.zookeeper.queue.ZooKeeperTraffic.Arrival;
import io.mortise.lock.zookeeper.queue.ZooKeeperTraffic.Request;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** A process with its handle, session, and registry of watches. */
final class ModelledClient {
    long session;
    boolean connected = true;
    int server;
    long connection = 1;
    long lastZxid;
    boolean deadlinePassed;
    boolean ended;
    boolean lockNodeUnused;
    final List<Request> sent; // not executed
    final List<Request> open; // without a response
    final List<Arrival> arriving;
    final Map<String, Set<Integer>> listeners; // sorted, as the sets
    final TreeSet<String> releasing;
    final TreeSet<String> watches;
    final TreeSet<Integer> registered;

    ModelledClient(long session, int server) {
        this.session = session;
        this.server = server;
        sent = new ArrayList<>();
        open = new ArrayList<>();
        arriving = new ArrayList<>();
        listeners = new TreeMap<>();
        releasing = new TreeSet<>();
        watches = new TreeSet<>();
        registered = new TreeSet<>();
    }

    ModelledClient(ModelledClient from) {
        session = from.session;
        connected = from.connected;
        server = from.server;
        connection = from.connection;
        lastZxid = from.lastZxid;
        deadlinePassed = from.deadlinePassed;
        ended = from.ended;
        lockNodeUnused = from.lockNodeUnused;
        sent = new ArrayList<>(from.sent);
        open = new ArrayList<>(from.open);
        arriving = new ArrayList<>(from.arriving);
        listeners = copy(from.listeners);
        releasing = new TreeSet<>(from.releasing);
        watches = new TreeSet<>(from.watches);
        registered = new TreeSet<>(from.registered);
    }

    private static Map<String, Set<Integer>> copy(Map<String, Set<Integer>> from) {
        Map<String, Set<Integer>> copied = new TreeMap<>();
        from.forEach((path, values) -> copied.put(path, new TreeSet<>(values)));
        return copied;
    }

    void listen(String path, int i) {
        listeners.computeIfAbsent(path, key -> new TreeSet<>()).add(i);
    }

    /** Returns whether the last listener was removed. */
    boolean unlisten(String path, int i) {
        Set<Integer> onPath = listeners.get(path);
        if (onPath == null || !onPath.remove(i) || !onPath.isEmpty()) {
            return false;
        }
        listeners.remove(path);
        return true;
    }
}
