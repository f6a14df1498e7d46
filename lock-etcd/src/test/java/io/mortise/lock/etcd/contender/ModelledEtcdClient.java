// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.contender;

import io.mortise.lock.etcd.contender.EtcdTraffic.Reply;
import io.mortise.lock.etcd.contender.EtcdTraffic.Sent;
import java.util.ArrayList;
import java.util.List;

/** A process with its session, and what is on its way between it and the cluster. */
final class ModelledEtcdClient {
    ModelledSession session;
    int sessions = 1;
    final List<Sent> sent;
    final List<Reply> replies;

    ModelledEtcdClient(ModelledSession session) {
        this.session = session;
        sent = new ArrayList<>();
        replies = new ArrayList<>();
    }

    ModelledEtcdClient(ModelledEtcdClient from) {
        session = from.session.copy();
        sessions = from.sessions;
        sent = new ArrayList<>(from.sent);
        replies = new ArrayList<>(from.replies);
    }

    /** Requests a read of the queue, which belongs to the watch. */
    void readQueue() {
        sent.add(new Sent(-1, 0, null, 0));
    }

    void endWatch(boolean reopen) {
        session.endWatch(reopen);
        sent.removeIf(each -> each.contender() < 0);
        replies.removeIf(reply -> reply.to().contender() < 0);
    }
}
