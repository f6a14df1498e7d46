// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.zookeeper.AddWatchMode;
import org.apache.zookeeper.AsyncCallback;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;

/** A handle without a server, for tests of single steps: it answers at once, on the thread that asks. */
class AnsweringHandle extends ZooKeeper {
    static final Duration TIMEOUT = Duration.ofSeconds(20);

    /** The nodes whose deletion was asked for. */
    final List<String> deleted = new ArrayList<>();

    /** The answer to the next deletions. */
    Code deletion = Code.OK;

    AnsweringHandle() throws IOException {
        super("127.0.0.1:1", Math.toIntExact(TIMEOUT.toMillis()), event -> {});
    }

    @Override
    public int getSessionTimeout() {
        return Math.toIntExact(TIMEOUT.toMillis());
    }

    @Override
    public void addWatch(
            String path, Watcher watcher, AddWatchMode mode, AsyncCallback.VoidCallback answer, Object asked) {
        answer.processResult(Code.OK.intValue(), path, asked);
    }

    @Override
    public void sync(String path, AsyncCallback.VoidCallback answer, Object asked) {
        answer.processResult(Code.OK.intValue(), path, asked);
    }

    @Override
    public void delete(String path, int version, AsyncCallback.VoidCallback answer, Object asked) {
        deleted.add(path);
        answer.processResult(deletion.intValue(), path, asked);
    }
}
