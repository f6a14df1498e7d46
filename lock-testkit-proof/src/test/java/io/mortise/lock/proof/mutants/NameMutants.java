// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof.mutants;

import static io.mortise.lock.proof.mutants.WrapperMutant.backend;
import static io.mortise.lock.proof.mutants.WrapperMutant.client;

import io.mortise.lock.Capability;
import io.mortise.lock.DistributedLock;
import io.mortise.lock.Lease;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockOptions;
import io.mortise.lock.LockStatus;
import io.mortise.lock.LossReason;
import io.mortise.lock.proof.mutants.WithdrawalMutants.WrongLocksClient;
import io.mortise.lock.spi.ContenderListener;
import io.mortise.lock.spi.LockBackend;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.LockRequest;
import java.nio.charset.StandardCharsets;
import java.text.Normalizer;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;

/** Deliberately defective backends and clients that confuse lock names or accept invalid arguments. Rules S13, S14, S19. */
final class NameMutants {
    private NameMutants() {}

    static List<WrapperMutant> all() {
        return List.of(
                collides("names are case-insensitive", name -> name.toLowerCase(Locale.ROOT)),
                collides("names are trimmed", name -> name.isBlank() ? "blank" : name.trim()),
                collides("names are normalised", name -> Normalizer.normalize(name, Normalizer.Form.NFC)),
                collides("long names are truncated to the store's column length", name -> truncate(name, 255)),
                collides("the escape character is not escaped", name -> name.replace("%2F", "/")),
                collides("repeated slashes are merged", name -> name.matches("/+") ? name : name.replaceAll("/+", "/")),
                client(
                        "S13",
                        "names that look like the store's queue nodes collide",
                        "S13_distinctNamesNeverCollide",
                        delegate -> new Renaming(delegate, name -> name.startsWith("lock-0") ? "lock-" : name)),
                backend(
                        "S13",
                        "operators see names in their stored form",
                        "S13_operatorsSeeTheNamesAsTheyWereGiven",
                        OperatorMutants.list(page -> new LockAdmin.Page(
                                page.locks().stream()
                                        .map(lock -> new LockStatus(
                                                new LockName(lock.name()).escaped(), lock.holders(), lock.waiters()))
                                        .toList(),
                                page.next()))),
                backend(
                        "S19",
                        "a loss reason contains the unescaped name",
                        "S19_messagesAboutALockAreOneLineWhateverItsName",
                        NameMutants::rawReasons),
                client(
                        "S14",
                        "a name that is too long is truncated",
                        "S14_badNamesAreRefused",
                        delegate -> new Renaming(delegate, name -> truncate(name, 512), name -> truncate(name, 512))),
                client(
                        "S14",
                        "an unpaired surrogate becomes a question mark",
                        "S14_badNamesAreRefused",
                        delegate -> new Renaming(delegate, NameMutants::asUtf8, NameMutants::asUtf8)),
                client(
                        "S14",
                        "a negative wait counts as zero",
                        "S14_badDurationsAreRefused",
                        delegate -> new WrongLocksClient(delegate, NameMutants::waitsZeroInstead)),
                backend(
                        "S14",
                        "a lease duration is accepted and ignored",
                        "S14_perLockLeaseIsHonouredOrRefused",
                        (delegate, connection) -> new ForwardingBackend(delegate, connection) {
                            @Override
                            public Duration leaseDuration(Optional<Duration> requested) {
                                return delegate.leaseDuration(Optional.empty());
                            }
                        }),
                client(
                        "S14",
                        "a lease duration is accepted though PER_LOCK_LEASE is not claimed",
                        "S14_perLockLeaseIsHonouredOrRefused",
                        delegate -> new HidesCapability(delegate, Capability.PER_LOCK_LEASE)));
    }

    private static LockBackend rawReasons(LockBackend delegate, MutantConnection connection) {
        return new ForwardingBackend(delegate, connection) {
            @Override
            void lost(LockRequest request, ContenderListener core, LossReason reason) {
                String name = request.name().value();
                core.lost(new LossReason(reason.kind(), "\"" + name + "\": " + reason.detail()));
            }
        };
    }

    private static WrapperMutant collides(String defect, UnaryOperator<String> wrong) {
        return client("S13", defect, "S13_distinctNamesNeverCollide", delegate -> new Renaming(delegate, wrong));
    }

    private static String truncate(String name, int length) {
        return name.length() <= length ? name : name.substring(0, length);
    }

    private static String asUtf8(String name) {
        return new String(name.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
    }

    /** Uses other lock names than the requested ones, but still returns the requested name to the caller. */
    static final class Renaming extends ForwardingClient {
        private final UnaryOperator<String> wrong;
        private final UnaryOperator<String> shown;

        Renaming(LockClient delegate, UnaryOperator<String> wrong) {
            this(delegate, name -> new LockName(name).value(), wrong);
        }

        Renaming(LockClient delegate, UnaryOperator<String> shown, UnaryOperator<String> wrong) {
            super(delegate);
            this.shown = shown;
            this.wrong = wrong;
        }

        @Override
        public DistributedLock named(String name, LockOptions options) {
            String seen = shown.apply(name);
            return new ForwardingLock(delegate.named(wrong.apply(seen), options), lease -> new ForwardingLease(lease) {
                @Override
                public String lockName() {
                    return seen;
                }
            });
        }
    }

    /** Does not claim a capability that the client has. */
    static final class HidesCapability extends ForwardingClient {
        private final Capability hidden;

        HidesCapability(LockClient delegate, Capability hidden) {
            super(delegate);
            this.hidden = hidden;
        }

        @Override
        public Set<Capability> capabilities() {
            EnumSet<Capability> claimed = EnumSet.copyOf(delegate.capabilities());
            claimed.remove(hidden);
            return claimed;
        }
    }

    private static DistributedLock waitsZeroInstead(DistributedLock delegate, UnaryOperator<Lease> wrapper) {
        return new ForwardingLock(delegate, wrapper) {
            @Override
            public Optional<Lease> tryAcquire(Duration maxWait) throws InterruptedException {
                return super.tryAcquire(maxWait.isNegative() ? Duration.ZERO : maxWait);
            }

            @Override
            public CompletableFuture<Optional<Lease>> tryAcquireAsync(Duration maxWait) {
                return super.tryAcquireAsync(maxWait.isNegative() ? Duration.ZERO : maxWait);
            }
        };
    }
}
