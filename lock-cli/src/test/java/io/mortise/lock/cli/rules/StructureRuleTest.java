// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.rules;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import java.time.Instant;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests the structure that ARCHITECTURE.md describes: layers, package cycles, threads and time. */
@Tag("once")
class StructureRuleTest {
    private static final String API = "io.mortise.lock";
    private static final String[] BACKENDS = {
        API + ".memory..", API + ".redis..", API + ".redlock..", API + ".etcd..", API + ".zookeeper.."
    };
    private static final String[] PROGRAMS = {API + ".cli..", API + ".testkit..", API + ".servers.."};

    private static final JavaClasses OURS = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .withImportOption(location -> !location.contains("/test-classes/"))
            .importPackages(API);

    private static final DescribedPredicate<JavaClass> LIBRARY =
            not(resideInAnyPackage(PROGRAMS)).as("classes of the library");

    /** Assigns each package to a slice of its own. */
    private static final SliceAssignment PACKAGES = new SliceAssignment() {
        @Override
        public SliceIdentifier getIdentifierOf(JavaClass each) {
            return each.getPackageName().startsWith(API)
                    ? SliceIdentifier.of(each.getPackageName())
                    : SliceIdentifier.ignore();
        }

        @Override
        public String getDescription() {
            return "packages";
        }
    };

    @Test
    void allModulesAreImported() {
        assertThat(OURS.stream().map(JavaClass::getPackageName).distinct())
                .contains(API, API + ".spi", API + ".cli", API + ".testkit", API + ".servers.redis")
                .anyMatch(name -> name.startsWith(API + ".redlock."));
        assertThat(OURS.size()).isGreaterThan(600);
    }

    @Test
    void packagesHaveNoCycles() {
        slices().assignedFrom(PACKAGES).should().beFreeOfCycles().check(OURS);
    }

    /** Applications need the API alone, backends the API and the SPI; only the entry points know the core. */
    @Test
    void layersDependDownwards() {
        classes()
                .that()
                .resideInAPackage(API)
                .should()
                .onlyDependOnClassesThat(resideInAnyPackage(API, API + ".internal", "java..", "org.jspecify.."))
                .check(OURS);
        noClasses()
                .that()
                .resideInAPackage(API + ".spi..")
                .should()
                .dependOnClassesThat(resideInAnyPackage(API + ".core..", API + ".connect.."))
                .check(OURS);
        noClasses()
                .that(not(resideInAnyPackage(API + ".core..", API + ".connect..")))
                .should()
                .dependOnClassesThat(resideInAPackage(API + ".core.."))
                .check(OURS);
        noClasses()
                .that()
                .resideInAnyPackage(BACKENDS)
                .should()
                .dependOnClassesThat(resideInAPackage(API + ".internal.."))
                .check(OURS);
    }

    @Test
    void onlyTheCoreAndElectionsCreateThreads() {
        noClasses()
                .that(LIBRARY)
                .and()
                .resideOutsideOfPackages(
                        API + ".core.runtime..", API + ".recipe..") // an election has a thread (ADR 0053)
                .should()
                .callConstructorWhere(DescribedPredicate.describe(
                        "creates a thread", call -> call.getTargetOwner().isAssignableTo(Thread.class)))
                .check(OURS);
    }

    /** The library neither makes decisions by the wall clock nor sleeps. */
    @Test
    void theLibraryReadsNoWallClockAndNeverSleeps() {
        noClasses()
                .that(LIBRARY)
                .should()
                .callMethod(System.class, "currentTimeMillis")
                .orShould()
                .callMethod(Thread.class, "sleep", long.class)
                .check(OURS);
        noClasses()
                .that(LIBRARY)
                .and()
                .doNotHaveSimpleName("AttemptRequest") // reads the time that operators see
                .should()
                .callMethod(Instant.class, "now")
                .check(OURS);
    }

    @Test
    void theRuleOnCyclesFindsACycle() {
        JavaClasses all = new ClassFileImporter().importPackages("java.util.concurrent", "java.util.concurrent.locks");
        assertThatThrownBy(() ->
                        slices().matching("java.(**)").should().beFreeOfCycles().check(all))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("Cycle");
    }
}
