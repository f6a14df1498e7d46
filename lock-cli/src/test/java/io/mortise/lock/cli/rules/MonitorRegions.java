// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.rules;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.function.IntPredicate;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.InsnList;
import org.objectweb.asm.tree.JumpInsnNode;
import org.objectweb.asm.tree.LabelNode;
import org.objectweb.asm.tree.LookupSwitchInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.TableSwitchInsnNode;
import org.objectweb.asm.tree.TryCatchBlockNode;

/** Determines which instructions of a method run while it holds a monitor that it has entered itself. */
final class MonitorRegions {
    private final MethodNode method;
    private final InsnList code;
    private final int[] depths;
    private final Deque<Integer> changed = new ArrayDeque<>();

    private MonitorRegions(MethodNode method) {
        this.method = method;
        this.code = method.instructions;
        this.depths = new int[code.size()];
        Arrays.fill(depths, -1);
    }

    /** Returns a predicate that tells whether the instruction at an index runs under a monitor. */
    static IntPredicate of(MethodNode method) {
        if ((method.access & Opcodes.ACC_SYNCHRONIZED) != 0) {
            return index -> true;
        }
        MonitorRegions regions = new MonitorRegions(method);
        regions.walk();
        return index -> regions.depths[index] > 0;
    }

    private void walk() {
        if (code.size() > 0) {
            reach(0, 0);
        }
        for (Integer at = changed.poll(); at != null; at = changed.poll()) {
            AbstractInsnNode instruction = code.get(at);
            int depth = depths[at];
            for (TryCatchBlockNode handler : method.tryCatchBlocks) {
                if (code.indexOf(handler.start) <= at && at < code.indexOf(handler.end)) {
                    reach(code.indexOf(handler.handler), depth);
                    if (handler.type == null) {
                        break; // it catches everything: the following handlers only see what it throws
                    }
                }
            }
            int after = switch (instruction.getOpcode()) {
                case Opcodes.MONITORENTER -> depth + 1;
                case Opcodes.MONITOREXIT -> Math.max(0, depth - 1);
                default -> depth;
            };
            for (int next : successors(instruction, at)) {
                reach(next, after);
            }
        }
    }

    private List<Integer> successors(AbstractInsnNode instruction, int at) {
        List<Integer> next = new ArrayList<>();
        if (instruction instanceof JumpInsnNode jump) {
            next.add(code.indexOf(jump.label));
        } else if (instruction instanceof TableSwitchInsnNode table) {
            addAll(next, table.labels, table.dflt);
        } else if (instruction instanceof LookupSwitchInsnNode lookup) {
            addAll(next, lookup.labels, lookup.dflt);
        }
        int opcode = instruction.getOpcode();
        boolean ends = opcode == Opcodes.GOTO
                || opcode == Opcodes.ATHROW
                || opcode == Opcodes.TABLESWITCH
                || opcode == Opcodes.LOOKUPSWITCH
                || (opcode >= Opcodes.IRETURN && opcode <= Opcodes.RETURN);
        if (!ends && at + 1 < code.size()) {
            next.add(at + 1);
        }
        return next;
    }

    private void addAll(List<Integer> next, List<LabelNode> labels, LabelNode otherwise) {
        labels.forEach(label -> next.add(code.indexOf(label)));
        next.add(code.indexOf(otherwise));
    }

    private void reach(int index, int depth) {
        if (depth > depths[index] && depth < 10) {
            depths[index] = depth;
            changed.add(index);
        }
    }
}
