// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.queue;

import io.mortise.lock.explorer.zookeeper.ZooKeeperTree.Write;
import java.util.List;
import org.apache.zookeeper.KeeperException;
import org.jspecify.annotations.Nullable;

/** The requests, responses and events on their way between modelled clients and servers. */
final class ZooKeeperTraffic {
    private ZooKeeperTraffic() {}

    enum RequestKind {
        CREATE,
        CREATE_WITH_LOCK_NODE,
        SYNC,
        COMMIT_NO_OP,
        LIST,
        READ,
        WATCH,
        REMOVE_WATCH,
        DELETE,
        DELETE_LOCK_NODE
    }

    /**
     * A request.
     *
     * @param paired whether it is a list whose response is dropped if the request before it fails, or that request
     */
    record Request(RequestKind kind, int contender, int incarnation, String path, boolean paired) {
        boolean hasResponse() {
            return kind != RequestKind.REMOVE_WATCH && kind != RequestKind.DELETE_LOCK_NODE;
        }

        /** Returns whether it only makes the server wait for what was committed before. */
        boolean isBarrier() {
            return kind == RequestKind.SYNC || kind == RequestKind.COMMIT_NO_OP;
        }

        /** Returns whether it goes through the leader. */
        boolean isOrdered() {
            return switch (kind) {
                case CREATE, CREATE_WITH_LOCK_NODE, SYNC, COMMIT_NO_OP, DELETE, DELETE_LOCK_NODE -> true;
                case LIST, READ, WATCH, REMOVE_WATCH -> false;
            };
        }

        @Override
        public String toString() {
            return kind + " " + path + " of contender " + contender;
        }
    }

    /** A response, or an event if it has no request. */
    record Arrival(
            @Nullable Request request,
            KeeperException.Code code,
            String path,
            long number,
            List<String> children,
            long zxid) {
        static Arrival ofDeletion(String path, long zxid) {
            return new Arrival(null, KeeperException.Code.OK, path, 0, List.of(), zxid);
        }

        @Override
        public String toString() {
            return request == null ? "deletion of " + path : code + " " + path + " " + children + " for " + request;
        }
    }

    /** A transaction, without effect if it writes nothing, on its way to the follower; with whom to respond to. */
    record Commit(
            @Nullable Write write,
            int client,
            long session,
            long connection,
            @Nullable Request request) {
        @Override
        public String toString() {
            return request != null ? request.toString() : String.valueOf(write);
        }
    }

    /** A request of a connection that was lost. */
    record Stray(int client, long session, Request request) {}
}
