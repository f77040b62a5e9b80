package waybill

import (
	"hash/crc32"
	"regexp"
	"strings"
)

const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

var keyPattern = regexp.MustCompile(`\Awb_(?:test_)?([0-9A-Za-z]{43})([0-9A-Za-z]{6})\z`)

// IsWellFormedKey tells whether a text has the format and checksum of an API key. It detects mistyped keys without a
// request.
func IsWellFormedKey(text string) bool {
	match := keyPattern.FindStringSubmatch(text)
	return match != nil && checksum(match[1]) == match[2]
}

// checksum returns the CRC-32 in base 62.
func checksum(body string) string {
	text := ""
	for rest := crc32.ChecksumIEEE([]byte(body)); rest > 0; rest /= 62 {
		text = string(digits[rest%62]) + text
	}
	return strings.Repeat("0", 6-len(text)) + text
}
