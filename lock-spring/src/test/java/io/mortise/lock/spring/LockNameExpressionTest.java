// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.util.PropertyPlaceholderHelper;

class LockNameExpressionTest {
    public static class Order {
        public UUID getId() {
            return new UUID(0, 42);
        }

        public Map<String, Integer> getLines() {
            return Map.of("apple", 3);
        }

        public List<Order> getParts() {
            return List.of();
        }

        public @Nullable String getNote() {
            return null;
        }
    }

    public static class Tenants {
        public String current() {
            return "acme";
        }
    }

    @SuppressWarnings("unused") // called by name
    private static void ship(@Nullable Order order, int count) {}

    private static final Method METHOD = List.of(LockNameExpressionTest.class.getDeclaredMethods()).stream()
            .filter(method -> method.getName().equals("ship"))
            .findFirst()
            .orElseThrow();

    private static String name(String text, @Nullable Order order) {
        DefaultListableBeanFactory beans = new DefaultListableBeanFactory();
        beans.registerSingleton("tenants", new Tenants());
        return LockNameExpression.of(text, METHOD, UnaryOperator.identity())
                .evaluate(METHOD, new Object[] {order, 7}, "the bean", beans);
    }

    private static String name(String text) {
        return name(text, new Order());
    }

    @ParameterizedTest
    @ValueSource(strings = {"report", "nightly report", "a/b:c_d-e.f~g", "Größe", "order", "42"})
    void S13_aConstantIsTheNameAsItIs(String text) {
        assertThat(name(text)).isEqualTo(text);
        assertThat(LockNameExpression.of(text, METHOD, UnaryOperator.identity()).constant())
                .contains(text);
    }

    @Test
    void anExpressionIsEvaluated() {
        assertThat(name("'order/' + #order.id")).isEqualTo("order/00000000-0000-0000-0000-00000000002a");
        assertThat(name("#p1")).isEqualTo("7");
        assertThat(name("'n' + #count + '/' + #a1")).isEqualTo("n7/7");
        assertThat(name("@tenants.current() + '/orders'")).isEqualTo("acme/orders");
        assertThat(name("#root.method.name + #root.args[1]")).isEqualTo("ship7");
        assertThat(name("targetClass.simpleName + '-' + target")).isEqualTo("String-the bean");
        assertThat(name("#order.lines[apple]")).isEqualTo("3");
        assertThat(name("#order.lines.![value][0]")).isEqualTo("3");
        assertThat(name("T(java.lang.Math).abs(-#count)")).isEqualTo("7");
        assertThat(name("'user@example'")).isEqualTo("user@example");
        assertThat(LockNameExpression.of("#p1", METHOD, UnaryOperator.identity())
                        .constant())
                .isEmpty();
    }

    /** Reproduces ShedLock issue 1284: a text that looks like an expression, and silently is a name. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "{#count}",
                "order/#{#count}",
                "user@example",
                "order/{id}",
                "'order/' + id",
                "#missing",
                "#fn(1)",
                "#count +",
                "order.id",
                "'it''s' + name",
                "{1:2}"
            })
    void S14_anythingElseIsRefusedWithTheText(String text) {
        assertThatThrownBy(() -> LockNameExpression.of(text, METHOD, UnaryOperator.identity()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(text.isEmpty() ? "name is empty" : "name \"" + text + "\"");
    }

    @Test
    void S14_theMessageTellsAConstantFromAnExpression() {
        assertThatThrownBy(() -> name("order.id")).hasMessageContaining("write \"#order.id\"");
        assertThatThrownBy(() -> name("user@example")).hasMessageContaining("a text stands in quotes");
        assertThatThrownBy(() -> name("#missing")).hasMessageContaining("order").hasMessageContaining("-parameters");
    }

    /** Two processes would compute different names, and exclude nobody. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "#order",
                "'order/' + #order",
                "#order.parts",
                "'batch/' + #order.parts",
                "'batch/' + #order.lines",
                "#root.args",
                "'x' + #root.args",
                "#order.note",
                "#order?.note"
            })
    void S01_aValueThatIsNoNameIsRefused(String text) {
        assertThatThrownBy(() -> name(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("\"" + text + "\"");
    }

    @Test
    void S13_aValueMustBeAValidName() {
        assertThatThrownBy(() -> name("''")).hasMessageContaining("lock name is empty");
        assertThatThrownBy(() -> name("'" + "x".repeat(513) + "'")).hasMessageContaining("513 bytes");
        assertThatThrownBy(() -> name("#order.id", null))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("#order.id");
    }

    @Test
    void theValueOfAPlaceholderIsNoExpression() {
        assertThat(LockNameExpression.of("report-${x}", METHOD, text -> text.replace("${x}", "#count"))
                        .constant())
                .contains("report-#count");
    }

    private static LockNameExpression of(String text, Map<String, String> values) {
        return LockNameExpression.of(
                text,
                METHOD,
                each -> new PropertyPlaceholderHelper("${", "}", ":", null, true)
                        .replacePlaceholders(each, values::get));
    }

    @Test
    void aConstantMayHavePlaceholdersInPlaceholders() {
        assertThat(of("report-${a:${b}}", Map.of("b", "'x' + #count")).constant())
                .contains("report-'x' + #count");
        assertThat(of("${a:${b:c}/d}-e", Map.of()).constant()).contains("c/d-e");
        assertThat(of("${a:#count}", Map.of()).constant()).contains("#count");
        assertThat(of("${a.${b}}", Map.of("b", "x", "a.x", "#p1")).constant()).contains("#p1");
    }

    @Test
    void inAnExpressionTheValueOfAPlaceholderIsAText() {
        Map<String, String> values = Map.of("a", "it's \"x\" + #count");
        for (String text : List.of("'${a}/' + #count", "\"${a}/\" + #count", "'${b:${a}}/' + #count")) {
            assertThat(of(text, values)
                            .evaluate(METHOD, new Object[] {null, 7}, "the bean", new DefaultListableBeanFactory()))
                    .as(text)
                    .isEqualTo("it's \"x\" + #count/7");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"${a} + #count", "'x''y' + ${a}", "#root.args[${b:${a}}]", "'${a}' + ${a}"})
    void S14_aPlaceholderOutsideOfQuotesIsRefusedInAnExpression(String text) {
        assertThatThrownBy(() -> of(text, Map.of("a", "1")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("outside of quotes");
    }
}
