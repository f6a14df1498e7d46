// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring;

import io.mortise.lock.spi.LockName;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BinaryOperator;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.context.expression.MethodBasedEvaluationContext;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.core.convert.TypeDescriptor;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.ParseException;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.FunctionReference;
import org.springframework.expression.spel.ast.Indexer;
import org.springframework.expression.spel.ast.InlineList;
import org.springframework.expression.spel.ast.InlineMap;
import org.springframework.expression.spel.ast.Projection;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.Selection;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.expression.spel.support.StandardTypeConverter;
import org.springframework.util.ReflectionUtils;

/** The name of the lock of one method: a constant, or an expression that each call evaluates. Immutable and thread-safe. */
final class LockNameExpression {
    private static final Pattern CONSTANT = Pattern.compile("[\\p{L}\\p{N} \\-_.:/~]*");
    private static final Set<String> ROOT_PROPERTIES = Set.of("target", "targetClass", "method", "args");
    private static final String CONSTANT_RULE = "a constant has only letters, digits, spaces and - _ . : / ~, "
            + "and every other text is an expression, in which a text stands in quotes";

    private static final SpelExpressionParser PARSER = new SpelExpressionParser();
    private static final ParameterNameDiscoverer PARAMETERS = new DefaultParameterNameDiscoverer();

    private final String text;
    private final @Nullable SpelExpression expression;

    private LockNameExpression(String text, @Nullable SpelExpression expression) {
        this.text = text;
        this.expression = expression;
    }

    /**
     * Reads the text of {@link Locked#name()}.
     *
     * @param method the annotated method
     * @param placeholders replaces the placeholders of a text
     * @throws IllegalArgumentException if the text is neither a valid name nor a valid expression for the method
     */
    static LockNameExpression of(String raw, Method method, UnaryOperator<String> placeholders) {
        // The values of placeholders do not decide: one with a quote in it is still a text.
        if (!CONSTANT.matcher(replacePlaceholders(raw, (placeholder, quote) -> ""))
                .matches()) {
            String code = replacePlaceholders(raw, (placeholder, quote) -> quoted(placeholder, quote, placeholders));
            return new LockNameExpression(code, parse(code, method));
        }
        String text = placeholders.apply(raw);
        String name = new LockName(text).value();
        for (String parameter : parameterNames(method)) {
            if (name.startsWith(parameter + ".")) {
                throw new IllegalArgumentException("name \"" + name + "\" is a constant, but begins like parameter "
                        + parameter + ": write \"#" + name + "\" for its value, or \"'" + name + "'\" for the text");
            }
        }
        return new LockNameExpression(name, null);
    }

    /** Returns the value of a placeholder as a part of a text in quotes, so that it is never evaluated. */
    private static String quoted(String placeholder, String quote, UnaryOperator<String> placeholders) {
        if (quote.isEmpty()) {
            throw new IllegalArgumentException("name has " + placeholder
                    + " outside of quotes, where its value would be evaluated: write '" + placeholder + "'");
        }
        return placeholders.apply(placeholder).replace(quote, quote + quote);
    }

    /**
     * Replaces each placeholder, which ends at the brace that closes its first one: it may contain others.
     *
     * @param replacement gets the placeholder, and the quote that opens the text in which it stands, or nothing
     */
    private static String replacePlaceholders(String raw, BinaryOperator<String> replacement) {
        StringBuilder result = new StringBuilder();
        String quote = "";
        for (int i = 0; i < raw.length(); i++) {
            int end = raw.startsWith("${", i) ? endOfPlaceholder(raw, i) : -1;
            String next = end < 0 ? raw.substring(i, i + 1) : raw.substring(i, end);
            if (end >= 0) {
                result.append(replacement.apply(next, quote));
                i = end - 1;
                continue;
            }
            if (next.equals("'") || next.equals("\"")) {
                // A doubled quote inside a text closes and opens it, which comes to the same.
                quote = quote.isEmpty() ? next : quote.equals(next) ? "" : quote;
            }
            result.append(next);
        }
        return result.toString();
    }

    /** Returns the index after the placeholder that begins at the index, or -1 if it is not closed. */
    private static int endOfPlaceholder(String raw, int begin) {
        int depth = 0;
        for (int i = begin + 1; i < raw.length(); i++) {
            char next = raw.charAt(i);
            depth += next == '{' ? 1 : next == '}' ? -1 : 0;
            if (depth == 0) {
                return i + 1;
            }
        }
        return -1;
    }

    private static SpelExpression parse(String text, Method method) {
        try {
            SpelExpression parsed = PARSER.parseRaw(text);
            check(parsed.getAST(), true, method);
            return parsed;
        } catch (ParseException | IllegalStateException | IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "name \"" + text + "\" is not a valid expression: " + e.getMessage() + " (" + CONSTANT_RULE + ")",
                    e);
        }
    }

    /**
     * Checks what would otherwise fail, or give a wrong name, at the first call.
     *
     * @param onRoot whether the node is evaluated on the root object, and not on what stands before it
     */
    private static void check(SpelNode node, boolean onRoot, Method method) {
        if (node instanceof InlineList || node instanceof InlineMap || node instanceof FunctionReference) {
            throw new IllegalArgumentException(node.toStringAST() + " cannot be part of a name");
        }
        if (node instanceof VariableReference variable) {
            checkVariable(variable.toStringAST().substring(1), method);
        }
        if (onRoot
                && node instanceof PropertyOrFieldReference property
                && !ROOT_PROPERTIES.contains(property.getName())) {
            throw new IllegalArgumentException("\"" + property.getName()
                    + "\" is neither a text in quotes nor a parameter, " + "which begins with #");
        }
        if (node instanceof Projection || node instanceof Selection) {
            return; // evaluated on each element
        }
        for (int i = 0; i < node.getChildCount(); i++) {
            boolean member = i > 0 && node instanceof CompoundExpression;
            check(node.getChild(i), !member && !(node instanceof Indexer), method);
        }
    }

    private static void checkVariable(String name, Method method) {
        Set<String> names = parameterNames(method);
        for (int i = 0; i < method.getParameterCount(); i++) {
            names.add("p" + i);
            names.add("a" + i);
        }
        if (!names.contains(name) && !name.equals("root") && !name.equals("this")) {
            throw new IllegalArgumentException("#" + name + " is no parameter of the method, which has " + names
                    + "; names of parameters need javac's option -parameters");
        }
    }

    private static Set<String> parameterNames(Method method) {
        String[] names = PARAMETERS.getParameterNames(method);
        return names == null ? new TreeSet<>() : new TreeSet<>(Arrays.asList(names));
    }

    /** Returns the name if it is a constant. */
    Optional<String> constant() {
        return expression == null ? Optional.of(text) : Optional.empty();
    }

    /**
     * Returns the name of the lock for one call.
     *
     * @throws IllegalArgumentException if the expression fails, or its value is null or cannot be a name
     */
    String evaluate(Method method, @Nullable Object[] arguments, @Nullable Object target, BeanFactory beans) {
        if (expression == null) {
            return text;
        }
        MethodBasedEvaluationContext context =
                new MethodBasedEvaluationContext(new Root(method, arguments, target), method, arguments, PARAMETERS);
        context.setBeanResolver(new BeanFactoryResolver(beans));
        context.setTypeConverter(new NameTextConverter());
        try {
            Object value = expression.getValue(context);
            if (value == null) {
                throw new IllegalArgumentException("its value is null");
            }
            NameTextConverter.refuseOtherTexts(value.getClass());
            return new LockName(value.toString()).value();
        } catch (EvaluationException | IllegalArgumentException | IllegalStateException e) {
            throw new IllegalArgumentException(
                    "cannot compute the name of the lock from \"" + text + "\": " + e.getMessage(), e);
        }
    }

    /** The root object of the expressions, with the properties that {@link Locked#name()} documents. */
    static final class Root {
        private final Method method;
        private final @Nullable Object[] args;
        private final @Nullable Object target;

        Root(Method method, @Nullable Object[] args, @Nullable Object target) {
            this.method = method;
            this.args = args;
            this.target = target;
        }

        public Method getMethod() {
            return method;
        }

        public @Nullable Object[] getArgs() {
            return args;
        }

        public @Nullable Object getTarget() {
            return target;
        }

        public Class<?> getTargetClass() {
            return target == null ? method.getDeclaringClass() : AopUtils.getTargetClass(target);
        }
    }

    /** Refuses to put an object into a name that has another text in each process: nobody would be excluded. */
    private static final class NameTextConverter extends StandardTypeConverter {
        @Override
        public boolean canConvert(@Nullable TypeDescriptor from, TypeDescriptor to) {
            if (from != null && to.getType() == String.class) {
                refuseOtherTexts(from.getType());
            }
            return super.canConvert(from, to);
        }

        static void refuseOtherTexts(Class<?> type) {
            Method text = type.isArray() ? null : ReflectionUtils.findMethod(type, "toString");
            boolean identity = !type.isPrimitive()
                    && !type.isInterface()
                    && (text == null || text.getDeclaringClass() == Object.class);
            // The order of a set or a map may differ between processes.
            boolean container = Collection.class.isAssignableFrom(type)
                    || Map.class.isAssignableFrom(type)
                    || type == Optional.class;
            if (identity || container) {
                throw new IllegalArgumentException("a " + type.getTypeName()
                        + " may have another text in each process: use one of its properties or elements");
            }
        }
    }
}
