// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper;

import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.LockException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;

/** What ZooKeeper's errors mean to the core. */
final class ZkFailure {
    private ZkFailure() {}

    static Throwable cause(Throwable failure) {
        boolean wrapped = failure instanceof CompletionException || failure instanceof ExecutionException;
        return wrapped && failure.getCause() != null ? failure.getCause() : failure;
    }

    static boolean is(Throwable failure, Code code) {
        return cause(failure) instanceof KeeperException keeper && keeper.code() == code;
    }

    /** Unknown outcome or final refusal, told with the endpoints. */
    static LockException of(Throwable failure, String what, String endpoints) {
        Throwable cause = cause(failure);
        if (cause instanceof LockException known) {
            return known;
        }
        if (!(cause instanceof KeeperException keeper)) {
            return new BackendRefusedException(what + " at " + endpoints + " failed: " + cause, cause);
        }
        return switch (keeper.code()) {
            case NOAUTH,
                    AUTHFAILED,
                    INVALIDACL,
                    SESSIONCLOSEDREQUIRESASLAUTH,
                    QUOTAEXCEEDED,
                    NOCHILDRENFOREPHEMERALS,
                    BADARGUMENTS,
                    MARSHALLINGERROR,
                    UNIMPLEMENTED ->
                new BackendRefusedException(
                        what + " at " + endpoints + " was refused (" + keeper.code() + " on " + keeper.getPath()
                                + "): check credentials, ACLs and quotas",
                        keeper);
            default ->
                new BackendUnavailableException(
                        what + ": no answer from " + endpoints + " (" + keeper.code() + ")", keeper);
        };
    }
}
