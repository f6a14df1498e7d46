// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof.mutants;

import static org.assertj.core.api.Assertions.assertThat;

import java.awt.Color;
import java.awt.image.BufferedImage;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;

/**
 * Tests how a real browser shows the pages of a passing and of a failing run.
 *
 * <p>With {@code -Dmortise.report.screenshots=docs/images} the runs are complete, and the screenshots are those of the documents.
 */
@Tag("long")
@Timeout(300) // a browser that starts on a busy machine takes seconds
@ResourceLock(Resources.SYSTEM_OUT)
class ReportPageTest {
    private static final int DESKTOP = 820;
    private static final int PHONE = 360;
    private static final String SCREENSHOTS = System.getProperty("mortise.report.screenshots", "");
    private static final String BACKGROUND = "view.getComputedStyle(page.body).backgroundColor";

    @TempDir(cleanup = CleanupMode.ALWAYS)
    private static Path folder;

    private static HeadlessBrowser browser;
    private static Path passing;
    private static Path failing;

    @BeforeAll
    @Timeout(900) // two complete runs take up to seven minutes on a busy machine
    static void runTheKit() throws Exception {
        browser = HeadlessBrowser.find(folder);
        List<String> tests = SCREENSHOTS.isEmpty() ? ReportedRun.TESTS : List.of();
        String accepted = SCREENSHOTS.isEmpty() ? ReportedRun.ALL_RULES : "url";
        ReportedRun.of(
                folder.resolve("passing"), MutantConformance.class, "", tests, Map.of("mortise.kit.accept", accepted));
        ReportedRun.of(folder.resolve("failing"), MutantConformance.class, ReportedRun.BROKEN_MUTANT, tests, Map.of());
        passing = folder.resolve("passing/report.html");
        failing = folder.resolve("failing/report.html");
    }

    @Test
    void thePageHasNoSidewaysScrollOnAPhone() throws Exception {
        for (Path page : List.of(passing, failing)) {
            assertThat(browser.measure(
                            page, PHONE, false, "page.documentElement.scrollWidth - page.documentElement.clientWidth"))
                    .as("%s at %d pixels", page, PHONE)
                    .isEqualTo("0");
        }
    }

    @Test
    void thePageFollowsTheColourScheme() throws Exception {
        assertThat(browser.measure(passing, DESKTOP, false, BACKGROUND)).isEqualTo("rgb(255, 255, 255)");
        assertThat(browser.measure(passing, DESKTOP, true, BACKGROUND)).isEqualTo("rgb(20, 24, 31)");
        // The text of a state keeps its contrast in both schemes.
        for (boolean dark : new boolean[] {false, true}) {
            String ratio = browser.measure(failing, DESKTOP, dark, """
                    Math.min(...[...page.querySelectorAll('.state, .verdict, p, dd, pre, th')].map(e => {
                      const back = n => { const c = view.getComputedStyle(n).backgroundColor;
                        return c.startsWith('rgba(0, 0, 0, 0') && n.parentElement ? back(n.parentElement) : c; };
                      const light = c => c.match(/\\d+/g).slice(0, 3).map(x => x / 255)
                        .map(x => x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4)
                        .reduce((sum, x, i) => sum + x * [0.2126, 0.7152, 0.0722][i], 0);
                      const pair = [light(view.getComputedStyle(e).color), light(back(e))].sort((a, b) => b - a);
                      return (pair[0] + 0.05) / (pair[1] + 0.05); }))
                    """);
            assertThat(Double.parseDouble(ratio))
                    .as("least contrast, dark: %s", dark)
                    .isGreaterThan(4.5);
        }
    }

    @Test
    void thePictureShowsTheSilentHolderAndBothLeases() throws Exception {
        assertThat(browser.measure(failing, DESKTOP, false, """
                        [...page.querySelectorAll('svg')].map(svg => ['.holds', '.waits', '.fault', '.violation', '.end']
                          .every(part => [...svg.querySelectorAll(part)].some(e => e.getBoundingClientRect().height > 5)))
                          .some(complete => complete)
                        """)).isEqualTo("true");
        assertThat(browser.measure(passing, DESKTOP, false, "page.querySelectorAll('svg').length"))
                .isEqualTo("0");
    }

    @Test
    void screenshots() throws Exception {
        Path target = Files.createDirectories(SCREENSHOTS.isEmpty() ? Path.of("target") : Path.of("..", SCREENSHOTS));
        Path light = target.resolve("conformance-passing.png");
        Path dark = target.resolve("conformance-failing.png");
        browser.screenshot(passing, DESKTOP, 960, false, light);
        browser.screenshot(failing, DESKTOP, 960, true, dark);
        assertThat(corner(light)).isEqualTo(Color.WHITE);
        assertThat(corner(dark)).isEqualTo(new Color(20, 24, 31));
    }

    private static Color corner(Path screenshot) throws Exception {
        BufferedImage image = ImageIO.read(screenshot.toFile());
        assertThat(image.getWidth()).isEqualTo(DESKTOP);
        return new Color(image.getRGB(2, 2));
    }
}
