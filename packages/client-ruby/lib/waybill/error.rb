# frozen_string_literal: true

module Waybill
  # A refusal by the API, or a failure to reach it.
  class Error < StandardError
    # One of the seven codes of the API, or a code of the client: `connection_failed` if there was no response,
    # `bad_answer` if the response was not from the API, `invalid_key`.
    attr_reader :code
    # The specific cause.
    attr_reader :reason
    # HTTP status; 0 without a response.
    attr_reader :status
    # Include this id in support requests.
    attr_reader :request_id
    attr_reader :details
    # Seconds to wait after a 429 or 503.
    attr_reader :retry_after

    def initialize(code, message, reason: nil, status: 0, request_id: nil, details: [], retry_after: nil)
      super(message)
      @code = code
      @reason = reason
      @status = status
      @request_id = request_id
      @details = details
      @retry_after = retry_after
    end

    # Returns the refusal of a value that the client checks, in the form of the API's refusals.
    def self.invalid(path, message)
      details = [{ path: path, message: message }]
      new("invalid_request", "`#{path}` #{message}.", reason: "validation_failed", details: details)
    end
  end
end
