// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.grant;

import io.mortise.lock.redis.contender.ContenderRegistry;
import io.mortise.lock.redlock.master.MasterQuarantine;
import io.mortise.lock.redlock.master.RedlockMasters;
import io.mortise.lock.redlock.storage.RedlockKeys;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.LockRequest;
import java.util.function.Function;

/**
 * The objects that all contenders of one client share, such as the masters and the clock.
 *
 * @param contenders waiting contenders by attempt id, to which messages of the masters are routed
 * @param summary converts the votes behind a grant into the type that applications get with {@code lease.unwrap}
 */
public record ContenderServices(
        BackendContext context,
        RedlockKeys keys,
        RedlockMasters masters,
        MasterQuarantine quarantine,
        ContenderRegistry<RedlockContender> contenders,
        Function<RoundReport, Object> summary) {
    /** Returns the owner record that is stored with each vote. */
    String ownerRecord(LockRequest request) {
        return request.ownerRecord() + clientMark();
    }

    /** Returns a string that every owner record of this client contains, and no owner record of another client. */
    public String clientMark() {
        return " client=" + context.clientId(); // the name of this client's connections in CLIENT LIST
    }
}
