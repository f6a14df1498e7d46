// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.session;

import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.LockException;
import io.mortise.lock.spi.support.StageFailures;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;

/** Translates ZooKeeper's error codes into the exceptions of the lock API. */
public final class ZooKeeperErrors {
    private ZooKeeperErrors() {}

    /** Returns whether the request failed with this code. */
    public static boolean hasCode(Throwable failure, Code code) {
        return StageFailures.unwrap(failure) instanceof KeeperException keeper && keeper.code() == code;
    }

    /**
     * Returns whether the server may have executed the failed request, or may still do so. Only its refusal excludes that, and
     * that of ZooKeeper's client, which checks all arguments first: if it throws anything else, it may have sent the request.
     */
    public static boolean isOutcomeUnknown(Throwable failure) {
        Throwable cause = StageFailures.unwrap(failure);
        return cause instanceof KeeperException
                ? toLockException(cause, "", "") instanceof BackendUnavailableException
                : !(cause instanceof IllegalArgumentException);
    }

    /**
     * Returns the exception for a failed request: {@link BackendRefusedException} if the server refused the request, and {@link
     * BackendUnavailableException} if the outcome is unknown.
     *
     * @param what the name of the request in the message
     */
    public static LockException toLockException(Throwable failure, String what, String endpoints) {
        Throwable cause = StageFailures.unwrap(failure);
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
                    EPHEMERALONLOCALSESSION,
                    BADARGUMENTS,
                    MARSHALLINGERROR,
                    UNIMPLEMENTED ->
                new BackendRefusedException(
                        what + " at " + endpoints + " was refused (" + keeper.code() + " on " + keeper.getPath()
                                + "): check credentials, ACLs, quotas and local sessions",
                        keeper);
            case CONNECTIONLOSS, OPERATIONTIMEOUT, REQUESTTIMEOUT ->
                new BackendUnavailableException(
                        what + ": no answer from " + endpoints + " (" + keeper.code() + ")", endpoints, keeper);
            default ->
                new BackendUnavailableException(
                        what + " at " + endpoints + " failed: " + keeper.code(), endpoints, keeper);
        };
    }
}
