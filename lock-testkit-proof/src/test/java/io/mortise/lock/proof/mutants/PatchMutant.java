// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof.mutants;

import com.github.difflib.patch.PatchFailedException;
import com.github.difflib.unifieddiff.UnifiedDiff;
import com.github.difflib.unifieddiff.UnifiedDiffFile;
import com.github.difflib.unifieddiff.UnifiedDiffReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.StringReader;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Properties;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/**
 * A mutant that changes a few lines of the source of the store, of its connection or of the client.
 *
 * <p>It is a file of the directory {@code mutants}: a unified diff, as {@code git diff} writes it, below a header with the
 * rule, the defect, the name of the test that must fail and, if a protocol has the defect, what its exploration says of it. The changed sources are compiled when a trial starts, and loaded
 * by a class loader of the trial, together with new copies of all other classes of Mortise.
 *
 * @param file the file
 * @param rule as in {@link Mutant#rule()}
 * @param defect as in {@link Mutant#defect()}
 * @param killer as in {@link Mutant#killer()}
 * @param explored as in {@link Mutant#explored()}
 * @param diff the changes
 */
record PatchMutant(Path file, String rule, String defect, String killer, String explored, UnifiedDiff diff)
        implements Mutant {
    /** The system property with the path of another directory of mutants. */
    static final String DIRECTORY = "mortise.mutants.dir";

    private static final Path ROOT = Path.of("..");

    /** Names of the files that the in-memory store does not use, so that only {@link TableConformance} tests them. */
    private static final List<String> TABLE = List.of("InMemoryLockTable", "FaultyLeaseStore", "LeaseStore");

    /** Reads all mutants of the directory, in the order of their names. */
    static List<PatchMutant> all() {
        Path directory = Path.of(System.getProperty(DIRECTORY, "src/test/mutants"));
        try (Stream<Path> files = Files.list(directory)) {
            return files.filter(file -> file.toString().endsWith(".diff"))
                    .sorted()
                    .map(PatchMutant::read)
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static PatchMutant read(Path file) {
        try (InputStream in = Files.newInputStream(file)) {
            UnifiedDiff diff = UnifiedDiffReader.parseUnifiedDiff(in);
            Properties header = new Properties();
            header.load(new StringReader(diff.getHeader()));
            return new PatchMutant(
                    file,
                    header.getProperty("rule", ""),
                    header.getProperty("defect", ""),
                    header.getProperty("killer", ""),
                    header.getProperty("explored", ""),
                    diff);
        } catch (IOException e) {
            throw new UncheckedIOException(file + " is no unified diff", e);
        }
    }

    @Override
    public List<Class<?>> conformance() throws IOException {
        Path classes = Files.createTempDirectory(Path.of("target"), "mutant");
        List<File> sources = new ArrayList<>();
        for (UnifiedDiffFile changed : diff.getFiles()) {
            Path source = classes.resolve(ROOT.resolve(changed.getToFile()).getFileName());
            Files.write(source, patched(changed));
            sources.add(source.toFile());
        }
        compile(sources, classes);
        List<Class<?>> tests = new ArrayList<>();
        MortiseClassLoader loader = new MortiseClassLoader(classes);
        try {
            if (!changes(TABLE)) {
                tests.add(loader.loadClass(StoreConformance.class.getName()));
            }
            if (!changes(List.of("/lock/memory/"))) {
                tests.add(loader.loadClass(TableConformance.class.getName()));
            }
        } catch (ClassNotFoundException e) {
            throw new IllegalStateException(e);
        }
        return tests;
    }

    @Override
    public Class<?> control() {
        return changes(TABLE) ? TableConformance.class : StoreConformance.class;
    }

    private boolean changes(List<String> files) {
        return diff.getFiles().stream()
                .map(UnifiedDiffFile::getToFile)
                .anyMatch(changed -> files.stream().anyMatch(changed::contains));
    }

    private List<String> patched(UnifiedDiffFile changed) throws IOException {
        try {
            return changed.getPatch().applyFuzzy(Files.readAllLines(ROOT.resolve(changed.getToFile())), 2);
        } catch (PatchFailedException e) {
            throw new IOException(file + " no longer fits " + changed.getToFile() + ": write it again", e);
        }
    }

    private void compile(List<File> sources, Path classes) throws IOException {
        JavaCompiler javac = ToolProvider.getSystemJavaCompiler();
        StringWriter messages = new StringWriter();
        List<String> options = List.of(
                "-proc:none", "-nowarn", "-d", classes.toString(), "-classpath", System.getProperty("java.class.path"));
        try (StandardJavaFileManager manager = javac.getStandardFileManager(null, null, null)) {
            if (!javac.getTask(messages, manager, null, options, null, manager.getJavaFileObjectsFromFiles(sources))
                    .call()) {
                throw new IOException(file + " does not compile: " + messages);
            }
        }
    }

    @Override
    public String toString() {
        return rule + ": " + defect;
    }

    /** Loads the classes of Mortise, with the changed ones first; all others come from the parent. */
    private static final class MortiseClassLoader extends URLClassLoader {
        MortiseClassLoader(Path changed) {
            super(
                    Stream.concat(
                                    Stream.of(changed),
                                    Arrays.stream(System.getProperty("java.class.path")
                                                    .split(File.pathSeparator))
                                            .map(Path::of))
                            .map(MortiseClassLoader::url)
                            .toArray(URL[]::new),
                    MortiseClassLoader.class.getClassLoader());
        }

        private static URL url(Path path) {
            try {
                return path.toUri().toURL();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.startsWith("io.mortise.")) {
                return super.loadClass(name, resolve);
            }
            synchronized (getClassLoadingLock(name)) {
                Class<?> loaded = findLoadedClass(name);
                return loaded == null ? findClass(name) : loaded;
            }
        }
    }
}
