// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.rules;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.IntPredicate;
import java.util.regex.Pattern;
import org.objectweb.asm.Handle;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.InvokeDynamicInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;

/**
 * Finds calls that may wait for a foreign lock while a monitor is held, directly or through our own methods. Only calls that
 * are known to take no lock pass. A lambda of a type other than {@code Runnable} counts as called where it is created.
 */
final class MonitorCheck {
    private static final Pattern HARMLESS =
            Pattern.compile("java/lang/(?!Runnable|AutoCloseable|Thread|Process)\\w+(\\$\\w+)?"
                    + "|java/lang/Thread\\.(currentThread|interrupted|isAlive|<init>|setDaemon|start)"
                    + "|java/lang/(invoke|ref)/.*|java/math/.*|java/time/.*|java/nio/(charset/.*|\\w*Buffer)|java/util/\\w+(\\$\\w+)?|java/util/(stream|regex|random)/.*"
                    + "|java/util/concurrent/(atomic/.*|TimeUnit|ThreadLocalRandom|ConcurrentHashMap.*|ConcurrentLinked.*|ConcurrentMap)"
                    + "|java/util/concurrent/locks/LockSupport\\.unpark"
                    + "|java/util/concurrent/CompletableFuture\\.(<init>|isDone|isCompletedExceptionally|completedFuture|completedStage|failedFuture|getNow)"
                    + "|io/etcd/jetcd/(KeyValue|Response\\$Header|kv/GetResponse|watch/Watch(Event|Response)|common/exception/.*)" // data
                    + "|java/net/InetSocketAddress\\.get(Address|Port)|io/lettuce/core/RedisURI" // data
                    + "|io/grpc/Status.*");

    private static final Set<String> DEFERRED = Set.of("Ljava/lang/Runnable;");

    private record Method(String owner, String name, String descriptor) {
        @Override
        public String toString() {
            return owner.substring(owner.lastIndexOf('/') + 1) + "." + name;
        }
    }

    private record ReachedMethod(MethodNode node, String path) {}

    private final Map<String, ClassNode> classes = new HashMap<>();
    private final Map<Method, MethodNode> methods = new LinkedHashMap<>();
    private final Map<String, List<Method>> lambdas = new HashMap<>(); // by the functional method that they implement
    private final Set<String> findings = new TreeSet<>();
    private final Set<Method> seen = new HashSet<>();
    private final Deque<ReachedMethod> pending = new ArrayDeque<>();

    MonitorCheck(List<ClassNode> ours) {
        for (ClassNode type : ours) {
            classes.put(type.name, type);
            for (MethodNode method : type.methods) {
                methods.put(new Method(type.name, method.name, method.desc), method);
                for (AbstractInsnNode instruction : method.instructions) {
                    if (instruction instanceof InvokeDynamicInsnNode lambda
                            && lambda.bsmArgs.length > 1
                            && lambda.bsmArgs[1] instanceof Handle body) {
                        lambdas.computeIfAbsent(
                                        Type.getReturnType(lambda.desc).getInternalName() + "." + lambda.name,
                                        functionalMethod -> new ArrayList<>())
                                .add(new Method(body.getOwner(), body.getName(), body.getDesc()));
                    }
                }
            }
        }
    }

    /** Returns a line for each offending call: the method that holds the monitor, the call path, and the call. */
    Set<String> findings() {
        methods.forEach((method, node) -> calls(method.toString(), node, MonitorRegions.of(node)));
        for (ReachedMethod next = pending.poll(); next != null; next = pending.poll()) {
            calls(next.path(), next.node(), index -> true);
        }
        return findings;
    }

    private void calls(String path, MethodNode node, IntPredicate underMonitor) {
        for (int at = 0; at < node.instructions.size(); at++) {
            if (!underMonitor.test(at)) {
                continue;
            }
            AbstractInsnNode instruction = node.instructions.get(at);
            if (instruction instanceof MethodInsnNode call) {
                called(path, new Method(call.owner, call.name, call.desc), call.getOpcode());
            } else if (instruction instanceof InvokeDynamicInsnNode lambda && lambda.bsmArgs.length > 1) {
                if (!DEFERRED.contains(Type.getReturnType(lambda.desc).getDescriptor())
                        && lambda.bsmArgs[1] instanceof Handle body) {
                    called(path, new Method(body.getOwner(), body.getName(), body.getDesc()), Opcodes.INVOKEVIRTUAL);
                }
            }
        }
    }

    private void called(String path, Method method, int opcode) {
        if (method.owner().startsWith("[")) {
            return;
        }
        if (!classes.containsKey(method.owner())) {
            boolean harmless = HARMLESS.matcher(method.owner()).matches()
                    || HARMLESS.matcher(method.owner() + "." + method.name()).matches();
            if (!harmless) {
                findings.add(path + " > " + method.owner() + "." + method.name());
            }
            return;
        }
        boolean dispatched = opcode == Opcodes.INVOKEVIRTUAL || opcode == Opcodes.INVOKEINTERFACE;
        boolean found = false;
        for (ClassNode type : classes.values()) {
            if (type.name.equals(method.owner()) || (dispatched && isA(type, method.owner()))) {
                found |= reach(path, new Method(type.name, method.name(), method.descriptor()));
            }
        }
        for (Method body : lambdas.getOrDefault(method.owner() + "." + method.name(), List.of())) {
            found = true;
            called(path, body, Opcodes.INVOKESPECIAL);
        }
        ClassNode owner = classes.get(method.owner());
        if (!found && owner.superName != null) {
            called(path, new Method(owner.superName, method.name(), method.descriptor()), Opcodes.INVOKESPECIAL);
        }
    }

    private boolean reach(String path, Method method) {
        MethodNode node = methods.get(method);
        if (node != null && seen.add(method)) {
            pending.add(new ReachedMethod(node, path + " > " + method));
        }
        return node != null;
    }

    private boolean isA(ClassNode type, String parent) {
        for (ClassNode at = type; at != null; at = at.superName == null ? null : classes.get(at.superName)) {
            if (at.name.equals(parent)) {
                return true;
            }
            for (String implemented : at.interfaces) {
                ClassNode known = classes.get(implemented);
                if (implemented.equals(parent) || (known != null && isA(known, parent))) {
                    return true;
                }
            }
        }
        return false;
    }
}
