// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.contender;

import io.mortise.lock.etcd.contender.EtcdScope.Fault;
import io.mortise.lock.explorer.StateKey;
import io.mortise.lock.explorer.etcd.EtcdStore;
import io.mortise.lock.explorer.etcd.EtcdStore.Result;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The requests and replies on their way between modelled clients and the cluster. */
final class EtcdTraffic {
    private EtcdTraffic() {}

    /** A request on its way; without a contender, the read of the queue after a watch was registered. */
    record Sent(int contender, int incarnation, @Nullable ModelledRequest request, long grant) {
        @Override
        public String toString() {
            String what = request != null ? request.kind().name() : grant > 0 ? "LEASE" : "QUEUE READ";
            return contender < 0 ? what : what + " of contender " + contender;
        }

        /** @param hasKnownOrigin whether the contender still has the key and the record of the request */
        void describe(StateKey key, boolean hasKnownOrigin) {
            key.flags(contender >= 0, hasKnownOrigin);
            if (contender >= 0) {
                key.participant(contender).number(incarnation);
            }
            if (request != null) {
                request.describe(key);
                if (!hasKnownOrigin) {
                    key.value(request.from().key()).value(request.from().record());
                }
            } else {
                key.number(grant);
            }
        }

        /** Returns the fault that the loss of this request or its reply counts as. */
        Fault noReply(Set<Fault> possible) {
            boolean givesWay = request != null && request.kind() == ModelledRequest.Kind.GIVE_WAY;
            return givesWay && !possible.contains(Fault.NO_REPLY) ? Fault.NO_REPLY_TO_GIVING_WAY : Fault.NO_REPLY;
        }

        boolean isPut() {
            return request != null && request.kind() == ModelledRequest.Kind.PUT;
        }

        boolean isAcquire() {
            return request != null
                    && switch (request.kind()) {
                        case PUT, READ, CHECK, GIVE_WAY -> true;
                        case DELETE, DELETE_IF_OWN, WITHDRAW, MOVE -> false;
                    };
        }
    }

    /**
     * A reply on its way; without a result, a lease did not exist.
     *
     * @param removed whether the request has deleted or moved the key of the contender, of the grant if it has had one
     */
    record Reply(Sent to, Optional<Result> result, @Nullable EtcdStore read, long revision, boolean removed) {
        void describe(StateKey key) {
            to.describe(key, true);
            key.number(revision).flags(result.isPresent(), read != null, removed);
            result.ifPresent(found -> describe(key, found));
            if (read != null) {
                key.list(
                        read.keys().entrySet(),
                        (into, each) ->
                                into.value(each.getKey()).number(each.getValue().createRevision()));
                key.number(read.revision());
            }
        }

        private static void describe(StateKey key, Result found) {
            key.flags(found.succeeded(), found.entry() != null).number(found.count());
            if (found.entry() != null) {
                key.value(found.key()).number(found.entry().createRevision());
                key.number(found.entry().version()).value(found.entry().value());
            }
            key.list(found.parts(), Reply::describe);
        }
    }
}
