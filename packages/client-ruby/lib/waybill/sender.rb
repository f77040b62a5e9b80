# frozen_string_literal: true

require "json"
require "net/http"
require "openssl"
require "securerandom"
require "time"
require "uri"
require_relative "write_positions"

module Waybill
  # Sends requests, and repeats those that failed for a while.
  class Sender
    DEFAULT_URL = "http://127.0.0.1:3025"
    # Limits that last for hours or days: a caller decides whether to wait so long.
    LONG_LIMITS = %w[monthly_quota suppression_changes].freeze
    FIRST_PAUSE = 0.25
    LONGEST_PAUSE = 30.0
    METHODS = {
      "GET" => Net::HTTP::Get,
      "POST" => Net::HTTP::Post,
      "PATCH" => Net::HTTP::Patch,
      "DELETE" => Net::HTTP::Delete
    }.freeze
    # Errors of a connection. Timeouts and closed connections are among the first two.
    LOST = [
      Timeout::Error, IOError, SystemCallError, SocketError, OpenSSL::SSL::SSLError, Net::ProtocolError,
      Net::HTTPBadResponse, Net::HTTPHeaderSyntaxError
    ].freeze

    def initialize(api_key, base_url, retries, timeout)
      @key = api_key || environment("WAYBILL_KEY") || environment("WAYBILL_API_KEY")
      raise invalid_key("There is no API key. Set WAYBILL_KEY, or give the key to the client.") if @key.nil?
      raise invalid_key("This is not a complete Waybill API key (wb_…).") unless Waybill.well_formed_key?(@key)

      @base = (base_url || environment("WAYBILL_URL") || DEFAULT_URL).sub(%r{/+\z}, "").delete_suffix("/v1")
      raise Error.invalid("base_url", "is not an http or https URL") unless @base.match?(%r{\Ahttps?://[^/]})

      @retries = retries
      @timeout = timeout
      @writes = WritePositions.new
    end

    def call(operation, *parts, query: {}, body: nil, idempotency_key: nil, binary: false)
      method, template = operation.split(" ", 2)
      path = template.gsub(/\{\w+\}/) { URI.encode_www_form_component(parts.shift).gsub("+", "%20") }
      fields = query_fields(query)
      uri = URI(@base + path + (fields.empty? ? "" : "?#{URI.encode_www_form(fields)}"))
      begun, positions = @writes.begin
      headers = { "Authorization" => "Bearer #{@key}", "Accept" => "application/json", "Accept-Encoding" => "identity" }
      # Makes a retry safe: the service runs requests with the same key once.
      headers["Idempotency-Key"] = idempotency_key || SecureRandom.uuid if method == "POST"
      headers["Content-Type"] = "application/json" if METHODS.fetch(method)::REQUEST_HAS_BODY
      headers[WritePositions::HEADER] = positions unless positions.empty?
      text = body.nil? ? nil : JSON.generate(encode(body))
      # The `wait` of a request adds to the normal timeout.
      timeout = @timeout + query[:wait].to_s.to_i
      tries = 0
      begin
        response = attempt(method, uri, headers, text, timeout, begun)
        binary ? response.body.to_s.b : parsed(response)
      rescue Error => failure
        raise if tries >= @retries || !repeated?(failure)

        sleep(failure.retry_after || backoff(tries))
        tries += 1
        retry
      end
    end

    # Does not show the key.
    def inspect
      "#<Waybill::Sender #{@base}>"
    end

    private

    # Net::HTTP follows no redirects: another host must not get the key.
    def attempt(method, uri, headers, text, timeout, begun)
      http = Net::HTTP.new(uri.hostname, uri.port)
      http.use_ssl = uri.scheme == "https"
      http.open_timeout = http.read_timeout = http.write_timeout = timeout
      http.max_retries = 0
      request = METHODS.fetch(method).new(uri, headers)
      request.body = text
      response = begin
        http.start { http.request(request) }
      rescue *LOST => cause
        raise Error.new("connection_failed", "no response from #{@base}: #{cause.message}")
      end
      @writes.add(begun, response[WritePositions::HEADER]) unless method == "GET"
      # Net::HTTP accepts an answer that breaks off before its length. No answer is compressed, so lengths compare.
      if response.body.to_s.bytesize < response.content_length.to_i
        raise Error.new("connection_failed", "the response of #{@base} is not complete")
      end
      raise error_of(response) unless response.is_a?(Net::HTTPSuccess)

      response
    end

    def parsed(response)
      JSON.parse(response.body.to_s, symbolize_names: true)
    rescue JSON::ParserError
      raise Error.new("bad_answer", "#{@base} is not a Waybill API: no JSON.", status: response.code.to_i)
    end

    def invalid_key(problem)
      Error.new("invalid_key", problem)
    end

    def repeated?(failure)
      return !LONG_LIMITS.include?(failure.reason) if failure.status == 429

      failure.code == "connection_failed" || failure.status >= 500
    end

    # Adds jitter, so that clients which failed together do not retry together.
    def backoff(tries)
      [LONGEST_PAUSE, FIRST_PAUSE * 2**tries].min * (0.5 + rand / 2)
    end

    def error_of(response)
      waits = response["Retry-After"].to_s
      known = {
        status: response.code.to_i,
        request_id: response["X-Request-Id"],
        retry_after: waits.match?(/\A\d+(?:\.\d+)?\z/) ? waits.to_f : nil
      }
      refusal = refusal_in(response.body.to_s)
      # A proxy may answer with a page of its own.
      return Error.new("bad_answer", "The service answered with HTTP #{response.code}.", **known) if refusal.nil?

      known[:request_id] ||= refusal[:request_id]
      Error.new(refusal[:code], refusal[:message], reason: refusal[:reason], details: refusal[:details] || [], **known)
    end

    def refusal_in(text)
      body = JSON.parse(text, symbolize_names: true)
      refusal = body[:error] if body.is_a?(Hash)
      refusal if refusal.is_a?(Hash) && refusal[:code].is_a?(String)
    rescue JSON::ParserError
      nil
    end

    # Several tags are several parameters; other lists are separated by commas. Pairs are parameters such as `metadata.order`.
    def query_fields(query)
      query.compact.flat_map do |name, value|
        next value.map { |key, each| ["#{name}.#{key}", each] } if value.is_a?(Hash)

        values = value.is_a?(Array) && name.to_s != "tag" ? [value.join(",")] : Array(encode(value))
        values.map { |each| [name, each] }
      end
    end

    def encode(value)
      case value
      when Hash then value.transform_values { |each| encode(each) }
      when Array then value.map { |each| encode(each) }
      when Time then value.getutc.iso8601(3)
      when DateTime then encode(value.to_time)
      else value
      end
    end

    def environment(name)
      value = ENV.fetch(name, "")
      value.empty? ? nil : value
    end
  end
end
