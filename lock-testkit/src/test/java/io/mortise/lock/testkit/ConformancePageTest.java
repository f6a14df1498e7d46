// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;

/** Tests that the table in docs/conformance.md names the contracts that check each rule. */
class ConformancePageTest {
    private static final Path DOCS = Path.of("..", "docs");
    private static final Pattern ROW = Pattern.compile("(?m)^\\| (S\\d+|capabilities|call)\\b[^|]*\\|([^|]*)\\|.*$");
    private static final Pattern CONTRACT = Pattern.compile("`(\\w+Contract)`");

    @Test
    void everyRuleHasARow() throws Exception {
        List<String> rules =
                IntStream.rangeClosed(1, 19).mapToObj(number -> "S" + number).toList();
        assertThat(rows()).containsKeys(rules.toArray(new String[0]));
        assertThat(Files.readString(DOCS.resolve("semantics.md")))
                .as("rules that this test does not know")
                .doesNotContain("## S20 ");
    }

    @Test
    void everyTestIsInTheRowOfItsRule() throws Exception {
        Map<String, Set<String>> rows = rows();
        assertThat(tests()).isNotEmpty().allSatisfy(test -> {
            String contract = test.getDeclaringClass().getSimpleName();
            assertThat(rows.get(rule(test)))
                    .as("docs/conformance.md, row of %s, for %s", rule(test), test.getName())
                    .contains(contract);
        });
    }

    @Test
    void everyContractOnThePageExists() throws Exception {
        Set<String> contracts = tests().stream()
                .map(test -> test.getDeclaringClass().getSimpleName())
                .collect(Collectors.toSet());
        assertThat(rows().values().stream().flatMap(Set::stream)).isSubsetOf(contracts);
    }

    @Test
    void everyHookIsOnThePage() throws Exception {
        String page = Files.readString(DOCS.resolve("conformance.md"));
        assertThat(Stream.of(Faults.class, BackendUnderTest.class)
                        .flatMap(type -> Arrays.stream(type.getDeclaredMethods()))
                        .filter(method -> !method.isSynthetic())
                        .map(Method::getName)
                        .filter(name ->
                                !name.equals("close") && !name.equals("faults") && !name.equals("isServerThread")))
                .allSatisfy(name -> assertThat(page).contains(name));
    }

    private static List<Method> tests() {
        return Arrays.stream(LockConformance.class.getMethods())
                .filter(method ->
                        method.isAnnotationPresent(Test.class) || method.isAnnotationPresent(ParameterizedTest.class))
                .toList();
    }

    /** Returns S5 for {@code S05_…}; for a test that is named after no rule, returns the prefix of its name. */
    private static String rule(Method test) {
        String prefix = test.getName().replaceFirst("_.*", "");
        return prefix.replaceFirst("^S0*", "S").replaceFirst("^callAsync$", "call");
    }

    private static Map<String, Set<String>> rows() throws Exception {
        Map<String, Set<String>> rows = new TreeMap<>();
        Matcher row = ROW.matcher(Files.readString(DOCS.resolve("conformance.md")));
        while (row.find()) {
            Matcher contract = CONTRACT.matcher(row.group(2));
            Set<String> named = rows.computeIfAbsent(row.group(1), rule -> new TreeSet<>());
            while (contract.find()) {
                named.add(contract.group(1));
            }
        }
        return rows;
    }
}
