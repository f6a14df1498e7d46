// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.queue;

import io.mortise.lock.explorer.EqualParticipants;
import io.mortise.lock.explorer.Ranks;
import io.mortise.lock.explorer.zookeeper.ZooKeeperTree;
import io.mortise.lock.zookeeper.queue.ZooKeeperTraffic.Arrival;
import io.mortise.lock.zookeeper.queue.ZooKeeperTraffic.Commit;
import io.mortise.lock.zookeeper.queue.ZooKeeperTraffic.Request;
import io.mortise.lock.zookeeper.queue.ZooKeeperTraffic.Stray;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.IntStream;

/** The text that is equal for two worlds if the same can happen from both. */
final class ZooKeeperWorldKey {
    private static final int SEQUENCE_DIGITS = 10;

    private ZooKeeperWorldKey() {}

    /** Contenders are written as # and a digit, which is then replaced by their place in an order of what they do. */
    static String of(ZooKeeperWorld world) {
        List<ModelledContender> contenders = world.contenders;
        ModelledServers servers = world.servers;
        List<String> views = contenders.stream().map(ModelledContender::view).toList();
        StringBuilder text = new StringBuilder(1_000);
        for (ModelledServers.Server server : servers.all) {
            text.append(server.tree().zxid()).append('{');
            server.tree().nodes().forEach((path, node) -> {
                text.append(path).append(' ').append(node.czxid()).append(' ').append(node.owner());
                if (node.owner() == 0) {
                    text.append(" lock-").append(ZooKeeperTree.sequence(node.creates()));
                }
            });
            server.backlog.forEach(commit -> describe(commit, text));
            describe(server.model.watches(), ' ', text.append('w'));
        }
        world.clients.forEach(client -> describe(client, text));
        for (Stray stray : servers.strays) {
            describe(stray.request(), text.append('~').append(stray.session()));
        }
        text.append(servers.openSessions)
                .append(world.faults.left())
                .append(' ')
                .append(world.highestToken);
        int[] labels = EqualParticipants.labels(views);
        Integer[] order = IntStream.range(0, labels.length).boxed().toArray(Integer[]::new);
        Arrays.sort(order, Comparator.comparing(i -> labels[i]));
        for (int i : order) {
            ModelledContender contender = contenders.get(i);
            text.append(views.get(i)).append(contender.phase()).append(contender.token);
            contender.inbox.forEach(text::append);
        }
        EqualParticipants.relabel(text, "#", labels);
        return Ranks.replaceTimes(withRankedSequences(text.toString()));
    }

    static void append(StringBuilder text, boolean... flags) {
        for (boolean flag : flags) {
            text.append(flag ? '+' : '-');
        }
    }

    private static void describe(ModelledClient client, StringBuilder text) {
        text.append('|').append(client.session).append(':').append(client.server);
        text.append(':').append(client.connection).append(' ').append(client.lastZxid);
        append(text, client.connected, client.deadlinePassed, client.ended, client.lockNodeUnused);
        client.sent.forEach(request -> describe(request, text));
        text.append('o');
        client.open.forEach(request -> describe(request, text));
        text.append('a');
        for (Arrival arrival : client.arriving) {
            if (arrival.request() != null) {
                describe(arrival.request(), text);
            }
            text.append('<')
                    .append(arrival.code())
                    .append(arrival.path())
                    .append(' ')
                    .append(arrival.number());
            text.append(arrival.children()).append(arrival.zxid());
        }
        describe(client.listeners, '#', text.append('l'));
        text.append(client.releasing).append(client.watches);
        client.registered.forEach(i -> text.append('#').append(i));
    }

    private static void describe(Map<String, ? extends Set<Integer>> byPath, char prefix, StringBuilder text) {
        byPath.forEach((path, values) ->
                values.forEach(each -> text.append(path).append(prefix).append(each)));
    }

    private static void describe(Request request, StringBuilder text) {
        text.append('>').append(request.kind()).append(request.paired() ? 'p' : ' ');
        text.append('#')
                .append(Math.max(0, request.contender()))
                .append(request.incarnation())
                .append(request.path());
    }

    private static void describe(Commit commit, StringBuilder text) {
        text.append('!')
                .append(commit.client())
                .append(' ')
                .append(commit.session())
                .append(' ')
                .append(commit.connection());
        if (commit.request() != null) {
            describe(commit.request(), text);
        } else {
            text.append(commit.write());
        }
    }

    /** Replaces each sequence number by its rank: only the order of the numbers counts. */
    private static String withRankedSequences(String text) {
        TreeMap<String, Integer> ranks = new TreeMap<>();
        List<Integer> places = new ArrayList<>();
        for (int at = sequence(text, 0); at >= 0; at = sequence(text, at)) {
            places.add(at);
            ranks.put(text.substring(at, at + SEQUENCE_DIGITS), 0);
        }
        int rank = 0;
        for (Map.Entry<String, Integer> each : ranks.entrySet()) {
            each.setValue(rank++);
        }
        StringBuilder replaced = new StringBuilder(text.length());
        int from = 0;
        for (int at : places) {
            replaced.append(text, from, at).append(ranks.get(text.substring(at, at + SEQUENCE_DIGITS)));
            from = at + SEQUENCE_DIGITS;
        }
        return replaced.append(text, from, text.length()).toString();
    }

    /** Returns where the next sequence number begins; -1 if there is none. */
    private static int sequence(String text, int from) {
        for (int at = text.indexOf("lock-", from); at >= 0; at = text.indexOf("lock-", at + 1)) {
            int digits = at + "lock-".length();
            if (digits + SEQUENCE_DIGITS <= text.length() && Character.isDigit(text.charAt(digits))) {
                return digits;
            }
        }
        return -1;
    }
}
