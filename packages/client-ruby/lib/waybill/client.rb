# frozen_string_literal: true

module Waybill
  # The client: `Waybill::Client.new` with the key in `WAYBILL_KEY`, or `Waybill::Client.new("wb_…")`.
  #
  # A client can be used by several threads. Every call that changes something has a random idempotency key, so that a
  # lost answer is requested again and nothing is done twice.
  class Client
    attr_reader :emails, :logs, :domains, :suppressions, :events, :inbound, :threads, :templates

    def initialize(api_key = nil, base_url: nil, retries: 4, timeout: 30)
      @sender = Sender.new(api_key, base_url, retries, timeout)
      @emails = Emails.new(@sender)
      @logs = Logs.new(@sender)
      @domains = Domains.new(@sender)
      @suppressions = Suppressions.new(@sender)
      @events = Events.new(@sender)
      @inbound = Inbound.new(@sender)
      @threads = Threads.new(@sender)
      @templates = Templates.new(@sender)
    end

    # Calls any other endpoint. `operation` is as in the reference, `GET /v1/requests/{id}`; `parts` fill it in.
    def request(operation, *parts, query: {}, body: nil, idempotency_key: nil)
      @sender.call(operation, *parts, query: query, body: body, idempotency_key: idempotency_key)
    end
  end
end
