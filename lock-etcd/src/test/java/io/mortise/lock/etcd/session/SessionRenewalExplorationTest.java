// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.etcd.session.SessionRenewalScope.Fault;
import io.mortise.lock.etcd.session.SessionRenewalScope.Flaw;
import io.mortise.lock.explorer.Defect;
import io.mortise.lock.explorer.Exploration;
import io.mortise.lock.explorer.ProtocolExplorer;
import io.mortise.lock.explorer.ProtocolPage;
import java.lang.reflect.Field;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.spi.LocationAwareLogger;

/** Explores every interleaving of the renewals of a session: production's client, and an etcd cluster that is modelled. */
@Tag("once")
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class SessionRenewalExplorationTest {
    private static final ProtocolPage PAGE = new ProtocolPage("etcd");
    private static final ProtocolExplorer<SessionRenewalScope, SessionRenewalWorld> EXPLORER =
            new ProtocolExplorer<>(SessionRenewalWorld::new, SessionRenewalScope::with, scope -> false, 5_000_000);

    private static final SessionRenewalScope NO_FAULT = scope(2, 3, 0);
    private static final SessionRenewalScope LEADER_CHANGE = scope(1, 2, 1, Fault.LEADER_CHANGE);
    private static final SessionRenewalScope RENEWED_AT_NEW_LEADER = scope(2, 2, 1, Fault.LEADER_CHANGE);

    private static SessionRenewalScope scope(int renewals, int halfLeases, int faults, Fault... possible) {
        return new SessionRenewalScope(renewals, halfLeases, faults, Set.of(possible), Set.of());
    }

    /** Each copy of a world opens its session again, which is not worth a line in the log. */
    @BeforeAll
    static void logNoSessions() throws ReflectiveOperationException {
        logFrom(LocationAwareLogger.WARN_INT);
    }

    @AfterAll
    static void logSessions() throws ReflectiveOperationException {
        logFrom(LocationAwareLogger.INFO_INT);
    }

    private static void logFrom(int level) throws ReflectiveOperationException {
        Logger logger = LoggerFactory.getLogger(EtcdSession.class);
        Field field = logger.getClass().getDeclaredField("currentLogLevel"); // of slf4j-simple, which has no setter
        field.setAccessible(true);
        field.setInt(logger, level);
    }

    static Stream<Arguments> S01_S06_S07_S08_S11_renewalsKeepTheRules() {
        return Stream.of(
                Arguments.of("2 renewals", NO_FAULT),
                Arguments.of("1 renewal, a change of leader", LEADER_CHANGE),
                Arguments.of("1 renewal, two changes of leader", scope(1, 2, 2, Fault.LEADER_CHANGE)),
                Arguments.of("2 renewals, no reply", scope(2, 2, 1, Fault.NO_REPLY)),
                Arguments.of("1 renewal, an operator", scope(1, 2, 1, Fault.OPERATOR)));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource
    void S01_S06_S07_S08_S11_renewalsKeepTheRules(String what, SessionRenewalScope scope) {
        Exploration<SessionRenewalWorld> explored = EXPLORER.assertRulesHold(scope);
        assertThat(explored.situations()).containsKeys("renewed", "EXPIRED");
        if (scope.possible().contains(Fault.LEADER_CHANGE)) {
            assertThat(explored.situations()).containsKeys("tried again", "lease not found");
        }
        if (scope.possible().contains(Fault.OPERATOR)) {
            assertThat(explored.situations()).containsKeys("SESSION_ENDED");
        }
        PAGE.assertShows("| " + what + " |", explored);
    }

    static Stream<Arguments> S01_S06_S07_S08_S11_renewalsOfTheLongRunKeepTheRules() {
        return Stream.of(
                Arguments.of("2 renewals, a change of leader", RENEWED_AT_NEW_LEADER),
                Arguments.of("1 renewal, two of any fault", scope(1, 2, 2, Fault.values())));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource
    @Tag("long")
    void S01_S06_S07_S08_S11_renewalsOfTheLongRunKeepTheRules(String what, SessionRenewalScope scope) {
        PAGE.assertShows("| " + what + " |", EXPLORER.assertRulesHold(scope));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource
    void aDefectIsFound(Defect<SessionRenewalScope> defect) {
        EXPLORER.assertFinds(defect);
    }

    static Stream<Defect<SessionRenewalScope>> aDefectIsFound() {
        return Stream.of(
                new Defect<>(
                        "a keepalive counts that a replaced leader has answered",
                        "S01",
                        LEADER_CHANGE.with(Flaw.TERMS_ARE_NOT_COMPARED)),
                new Defect<>(
                        "the read after a keepalive is not linearizable",
                        "S01",
                        LEADER_CHANGE.with(Flaw.ANY_LEADER_SERVES_READS)),
                new Defect<>("a deadline counts from the reply", "S01", NO_FAULT.with(Flaw.DEADLINE_COUNTS_FROM_REPLY)),
                new Defect<>(
                        "a deadline leaves no margin for the rates of clocks",
                        "S01",
                        NO_FAULT.with(Flaw.DEADLINE_HAS_NO_MARGIN)),
                new Defect<>(
                        "the duration counts that was requested, and not the one that was granted",
                        "S01",
                        NO_FAULT.with(Flaw.REQUESTED_DURATION_COUNTS)),
                new Defect<>("a renewal after the deadline counts", "S06", NO_FAULT.with(Flaw.LATE_RENEWAL_REVIVES)),
                new Defect<>(
                        "a replaced leader ends a lease that its successor has renewed",
                        "S01",
                        LEADER_CHANGE.with(Flaw.REPLACED_LEADER_ENDS_LEASE)));
    }

    @Test
    @Tag("long")
    void aReplacedLeaderThatDoesNotFindTheLeaseMustNotEndTheSession() {
        EXPLORER.assertFinds(new Defect<>(
                "a replaced leader's word that there is no lease ends the session",
                "S07",
                RENEWED_AT_NEW_LEADER.with(Flaw.LEASE_NOT_FOUND_ENDS_SESSION)));
    }
}
