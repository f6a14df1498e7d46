// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.LockConfigurationException;
import io.mortise.lock.spi.LockUrl.Endpoint;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the parser of connection URLs, its messages, and that it never shows a secret. */
class LockUrlTest {
    @Test
    void parsesHostsWithAndWithoutPortAndIpv6() {
        LockUrl url = LockUrl.parse("ZooKeeper://h1:2181,h2,[::1]:99,[fe80::2]/locks/a%20b?timeout=5s");
        assertThat(url.scheme()).isEqualTo("zookeeper");
        assertThat(url.endpoints(7))
                .containsExactly(
                        new Endpoint("h1", 2181),
                        new Endpoint("h2", 7),
                        new Endpoint("[::1]", 99),
                        new Endpoint("[fe80::2]", 7));
        assertThat(url.path()).isEqualTo("/locks/a b");
        assertThat(url.duration("timeout")).contains(Duration.ofSeconds(5));
        assertThat(LockUrl.parse("memory:NAME").path()).isEqualTo("NAME");
    }

    @ParameterizedTest
    @ValueSource(strings = {"x://h:0", "x://h:65536", "x://h:", "x://a,,b", "x:///p", "x:p"})
    void S14_invalidHostsAreRejectedWithTheUrl(String url) {
        assertThatThrownBy(() -> LockUrl.parse(url).endpoints(1))
                .isInstanceOf(LockConfigurationException.class)
                .hasMessageContaining(url);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "no url", "x://h?a", "x://h?=b", "x://h?a=1&a=2", "x://h/%zz", "x://h?a=%4", "x://h#f"})
    void S14_malformedTextIsRejected(String url) {
        assertThatThrownBy(() -> LockUrl.parse(url)).isInstanceOf(LockConfigurationException.class);
    }

    @Test
    void parsesTypedParameters() {
        LockUrl url = LockUrl.parse("x://h?a=500ms&b=2m&c=1h&d=PT3S&n=5&t=true&f=false&bad=x&neg=PT-1S");
        assertThat(url.duration("a")).contains(Duration.ofMillis(500));
        assertThat(url.duration("b")).contains(Duration.ofMinutes(2));
        assertThat(url.duration("c")).contains(Duration.ofHours(1));
        assertThat(url.duration("d")).contains(Duration.ofSeconds(3));
        assertThat(url.integer("n", 1, 5)).hasValue(5);
        assertThat(url.flag("t")).contains(true);
        assertThat(url.flag("f")).contains(false);
        assertThat(url.text("none")).isEmpty();
        assertThatThrownBy(() -> url.integer("n", 1, 4))
                .hasMessageContaining("n=5")
                .hasMessageContaining("1 to 4");
        assertThatThrownBy(() -> url.duration("bad")).hasMessageContaining("bad=x");
        assertThatThrownBy(() -> url.duration("neg")).hasMessageContaining("neg=PT-1S");
        assertThatThrownBy(() -> url.flag("bad")).hasMessageContaining("true or false");
    }

    @Test
    void parsesUserAndPassword() {
        LockUrl url = LockUrl.parse("redis://us%40er:s3%2Fcr%3At@h");
        assertThat(url.user()).contains("us@er");
        assertThat(url.password()).contains("s3/cr:t");
        assertThat(LockUrl.parse("redis://:s3crt@h").user()).isEmpty();
        assertThat(LockUrl.parse("redis://:s3crt@h").password()).contains("s3crt");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "redis://u:s3crt@h:0",
                "redis://u:s3crt@h:1/0?password=s3crt",
                "redis://s3crt@",
                "redis://u:s3crt@h/%zz",
                "redis://u:s3crt@h?a",
                "redis://u:s3/crt@h",
                "redis://u:s3?crt@h",
                "redis://u:s3?a=s3crt@h",
                "redis://u:s3#crt@h",
                "redis://u:s3\ncrt@h",
                "redis://u:s3crt%@h",
                "redis:u:s3crt@h",
                "redis:s3crt@h",
                "redis:/s3crt@h",
                "redis://:s3crt",
                "redis://u:s3crt",
                "redis://u:s3crt:6379",
                "redis://h1,:s3crt",
                "redis://:s3#crt",
                "redis://h?x%0Apassword=s3crt",
                "redis://h?pass=s3crt&ApiKey=s3crt",
                "//:s3crt",
                "redis://h?bad=1&password=%s3",
            })
    void S19_noMessageAndNoStringFormShowsASecret(String text) {
        StringBuilder output = new StringBuilder();
        try {
            LockUrl url = LockUrl.parse(text);
            output.append(url);
            try {
                url.password();
            } catch (LockConfigurationException e) {
                output.append(e.getMessage());
            }
            output.append(url.endpoints(1));
        } catch (LockConfigurationException e) {
            output.append(e.getMessage());
        }
        assertThat(output.toString()).isNotEmpty().doesNotContain("s3").doesNotContain("crt");
    }

    @ParameterizedTest
    @ValueSource(strings = {"x://h:a", "x://::1", "x://:1", "x://h:123456"})
    void S14_S19_textThatIsNoHostIsRejectedAndNotShown(String url) {
        assertThatThrownBy(() -> LockUrl.parse(url).endpoints(1))
                .isInstanceOf(LockConfigurationException.class)
                .hasMessageContaining("***")
                .hasMessageNotContaining(url);
    }

    @Test
    void S19_withoutHostsAPathWithAColonIsNotShown() {
        assertThatThrownBy(() -> LockUrl.parse("redis::s3crt").endpoints(1))
                .hasMessageContaining("names no host")
                .hasMessageNotContaining("s3");
    }

    @Test
    void S19_theStringFormIsOneLine() {
        LockUrl url = LockUrl.parse("x://h/a%0Ab?c=d%0De%E2%80%A8f");
        assertThat(url.path()).isEqualTo("/a\nb");
        assertThat(url.toString()).isEqualTo("x://h/a\\u000ab?c=d\\u000de\\u2028f");
        assertThatThrownBy(() -> url.flag("c")).hasMessageContaining("c=d\\u000de");
        assertThatThrownBy(() -> LockUrl.parse("x://h?a%0Ab=c")).hasMessageContaining("control character");
        assertThatThrownBy(() -> LockUrl.parse("no\nurl")).hasMessageContaining("no\\u000aurl");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "876001h",
                "999999999h",
                "9999999999999999999ms",
                "9223372036854775807h",
                "P36501D",
                "PT9999999999H"
            })
    void S14_aDurationThatIsTooLongIsRejectedWithTheLimit(String value) {
        assertThatThrownBy(() -> LockUrl.parse("x://h?d=" + value).duration("d"))
                .isInstanceOf(LockConfigurationException.class)
                .hasMessageContaining("d=" + value)
                .hasMessageContaining("36500 days");
        assertThat(LockUrl.parse("x://h?d=876000h").duration("d")).contains(Duration.ofDays(36_500));
    }
}
