// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.archive;

import io.mortise.lock.cli.invocation.CommandFailedException;
import io.mortise.lock.cli.invocation.ExitCodes;
import java.io.File;
import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** The command {@code lockctl archive}: makes an archive of the classes that a command loads. */
@Command(
        name = "archive",
        header = "Writes an archive with which lockctl starts in half the time.",
        description = {
            "It fits this very Java and this very jar, called by the same path; with any other it is not used, and does no harm."
                    + " Takes some seconds and 60 MB. Needs no store.",
            "The script lockctl of the project makes and uses one by itself. Where only the jar is, call it as in the examples."
        },
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  java -jar /opt/lockctl.jar archive /opt/lockctl.jsa",
            "  java -XX:SharedArchiveFile=/opt/lockctl.jsa -Xlog:disable -XX:TieredStopAtLevel=1 -XX:+UseSerialGC \\",
            "      -XX:-UsePerfData -Dsun.misc.unsafe.memory.access=allow -jar /opt/lockctl.jar who inventory/42"
        })
public final class ArchiveCommand implements Callable<Integer> {
    private static final long PATIENCE_SECONDS = 120;

    @Parameters(paramLabel = "FILE", description = "Where to write it.")
    private Path file = Path.of("");

    @Override
    public Integer call() throws IOException, InterruptedException {
        String jar = System.getProperty("java.class.path");
        if (!jar.endsWith(".jar") || jar.contains(File.pathSeparator)) {
            throw new CommandFailedException(
                    ExitCodes.FAILED, "this is not run from lockctl.jar alone: there is no archive of folders");
        }
        Path target = file.toAbsolutePath();
        Path work = Files.createTempDirectory(target.getParent(), "lockctl-archive-");
        try {
            String classes = work.resolve("classes").toString();
            Path archive = work.resolve("archive");
            // The same collector and compiler as later: what they load is in it.
            java(
                    work,
                    "-XX:+UseSerialGC",
                    "-XX:TieredStopAtLevel=1",
                    "-XX:DumpLoadedClassList=" + classes,
                    "-Dlockctl.end.by.java=true",
                    "-jar",
                    jar,
                    RehearsalCommand.NAME);
            java(
                    work,
                    "-Xshare:dump",
                    "-XX:SharedClassListFile=" + classes,
                    "-XX:SharedArchiveFile=" + archive,
                    "-cp",
                    jar);
            // At once, so that no other command ever sees half of it.
            Files.move(archive, target, StandardCopyOption.ATOMIC_MOVE);
        } finally {
            delete(work);
        }
        return ExitCodes.OK;
    }

    private static void java(Path work, String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of(arguments));
        Path said = work.resolve("said");
        Process process = new ProcessBuilder(command)
                .redirectInput(ProcessBuilder.Redirect.from(new File(File.separatorChar == '/' ? "/dev/null" : "NUL")))
                .redirectErrorStream(true)
                .redirectOutput(said.toFile())
                .start();
        try {
            if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                throw new CommandFailedException(
                        ExitCodes.IO, command + " did not end within " + PATIENCE_SECONDS + " s");
            }
        } finally {
            process.destroyForcibly();
        }
        if (process.exitValue() != 0) {
            throw new CommandFailedException(ExitCodes.IO, command + " failed: " + lastLine(said));
        }
    }

    private static String lastLine(Path said) throws IOException {
        List<String> lines =
                Files.readString(said, Charset.defaultCharset()).lines().toList();
        return lines.isEmpty() ? "" : lines.get(lines.size() - 1);
    }

    private static void delete(Path work) throws IOException {
        for (String name : List.of("classes", "archive", "said")) {
            Files.deleteIfExists(work.resolve(name));
        }
        Files.deleteIfExists(work);
    }
}
