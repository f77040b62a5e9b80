# frozen_string_literal: true

require "json"
require "openssl"

module Waybill
  # Maximum difference in seconds between the clocks of sender and receiver. An older call may be a replay attack.
  TOLERANCE = 5 * 60

  class << self
    # Verifies a webhook call against your secrets and returns its event.
    #
    # `body` must be the raw body: parsing it and writing it again changes it. `headers` are a hash, a Rack environment
    # or the headers of a Rails request. During a rotation, pass both secrets. Raises `Waybill::Error` if the call is
    # not genuine, or older than five minutes.
    def verify_webhook(body, headers, secret, now: Time.now)
      id = header(headers, "webhook-id")
      timestamp = header(headers, "webhook-timestamp")
      raise refused("the webhook headers are missing") if id.empty? || !timestamp.match?(/\A\d{1,15}\z/)
      raise refused("the timestamp is too old, or a clock is wrong") if (now.to_i - timestamp.to_i).abs > TOLERANCE

      signatures = header(headers, "webhook-signature").split.filter_map { |part| part[3..] if part.start_with?("v1,") }
      text = "#{id}.#{timestamp}.".b + body.b
      Array(secret).each do |each|
        expected = sign(each, text)
        if signatures.any? { |signature| OpenSSL.secure_compare(signature, expected) }
          return JSON.parse(body, symbolize_names: true)
        end
      end
      raise refused("no signature matches your secrets")
    end

    private

    def header(headers, name)
      value = headers[name] || headers["HTTP_#{name.upcase.tr("-", "_")}"]
      value ||= headers.find { |key, _| key.to_s.casecmp?(name) }&.last if headers.is_a?(Hash)
      Array(value).first.to_s
    end

    def sign(secret, text)
      key = begin
        secret.delete_prefix("whsec_").unpack1("m0")
      rescue ArgumentError
        ""
      end
      # Everybody can sign with an empty secret.
      raise refused("a secret is missing or incomplete (whsec_…)") if key.empty?

      [OpenSSL::HMAC.digest("SHA256", key, text)].pack("m0")
    end

    def refused(problem)
      Error.new("unauthorized", "Webhook refused: #{problem}.", reason: "webhook_not_verified")
    end
  end
end
