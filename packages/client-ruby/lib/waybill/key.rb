# frozen_string_literal: true

require "zlib"

module Waybill
  KEY = /\Awb_(?:test_)?([0-9A-Za-z]{43})([0-9A-Za-z]{6})\z/
  DIGITS = [*"0".."9", *"A".."Z", *"a".."z"].freeze
  private_constant :KEY, :DIGITS

  # Whether a text has the format and checksum of an API key. Detects mistyped keys without a request.
  def self.well_formed_key?(text)
    match = KEY.match(text)
    return false if match.nil?

    # CRC-32 in base 62.
    digits = Zlib.crc32(match[1]).digits(62).reverse.map { |digit| DIGITS[digit] }.join
    digits.rjust(6, "0") == match[2]
  end
end
