// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.contender;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.etcd.contender.EtcdContenderEffect.PassTurn;
import io.mortise.lock.etcd.contender.EtcdContenderEffect.Plain;
import io.mortise.lock.etcd.contender.EtcdContenderEffect.ReportEnded;
import io.mortise.lock.etcd.contender.EtcdContenderEffect.SendWithdrawal;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.Attempt;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.End;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.EndAfter;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.InTurn;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.Joined;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.KeyPut;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.LeaseGranted;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.Moved;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.Position;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.Removed;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.ResultDelivered;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.SessionEnded;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Tests sequences of events; {@link EtcdProtocolPageTest} checks what holds for each single step. */
class EtcdContenderStateTest {
    private static final EndAfter END_AFTER = new EndAfter(Duration.ofSeconds(9), 1);
    private static final Position FIRST = Position.last(1);

    private EtcdContenderState state = EtcdContenderState.initial(true);
    private List<EtcdContenderEffect> effects = List.of();

    /** Takes the events, and remembers the effects of the last one. */
    private void on(EtcdContenderEvent... events) {
        for (EtcdContenderEvent event : events) {
            EtcdContenderState.Step step = EtcdContenderState.on(state, event);
            state = step.state();
            effects = step.effects();
        }
    }

    private void grant() {
        on(new Attempt(1), new Joined(1), new InTurn(1), new KeyPut(5, FIRST));
    }

    @Test
    void S05_aDeletionBeforeTheEndOfTheSessionIsARelease() {
        grant();
        on(new End(1), new SessionEnded(), new Removed(true));
        assertThat(effects).contains(new ReportEnded(true));
    }

    /** The lock stays taken, since the key has another lease. */
    @Test
    void S05_aMoveBeforeTheEndOfTheSessionIsADelayedRelease() {
        grant();
        on(END_AFTER, new LeaseGranted(9), new SessionEnded(), new Moved(true));
        assertThat(effects).contains(new ReportEnded(true));
    }

    /** The next contender learns that the lock is taken, unless it is about to be free. */
    @Test
    void S09_aDelayedReleaseKeepsTheLockTakenForTheNextInTurn() {
        grant();
        on(END_AFTER, new ResultDelivered(FIRST));
        assertThat(effects).containsExactly(new PassTurn(FIRST, false));
        on(new LeaseGranted(9), new ResultDelivered(FIRST));
        assertThat(effects).containsExactly(new PassTurn(FIRST, false));
    }

    /** The client may have got its turn, and sent the put, before the request for the turn failed. */
    @Test
    void S08_aTurnThatCouldNotBeRequestedLeavesThePutInDoubt() {
        on(new Attempt(1), new Joined(1));
        assertThat(effects).containsExactly(Plain.REQUEST_TURN);
        EtcdContenderEvent failed = EtcdContender.failed(Plain.REQUEST_TURN, new StackOverflowError("as planned"));
        on(new InTurn(1), Objects.requireNonNull(failed), new End(1));
        assertThat(effects).contains(new SendWithdrawal(true));
    }
}
