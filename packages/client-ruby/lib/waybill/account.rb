# frozen_string_literal: true

module Waybill
  # Manages the domains that mail is sent from.
  class Domains
    def initialize(sender)
      @sender = sender
    end

    def list
      @sender.call("GET /v1/domains")
    end

    def get(domain)
      @sender.call("GET /v1/domains/{domain}", domain)
    end

    def add(name, idempotency_key: nil)
      @sender.call("POST /v1/domains", body: { name: name }, idempotency_key: idempotency_key)
    end

    def verify(domain)
      @sender.call("POST /v1/domains/{domain}/verify", domain)
    end

    def rotate_dkim(domain, idempotency_key: nil)
      @sender.call("POST /v1/domains/{domain}/dkim/rotate", domain, idempotency_key: idempotency_key)
    end

    # Turns open and click tracking on or off, or sets the tracking domain.
    def update(domain, change)
      @sender.call("PATCH /v1/domains/{domain}", domain, body: change)
    end

    def remove(domain)
      @sender.call("DELETE /v1/domains/{domain}", domain)
    end
  end

  # Manages the addresses that get no mail.
  class Suppressions
    LARGEST_PAGE = 100

    def initialize(sender)
      @sender = sender
    end

    def list(query = {})
      @sender.call("GET /v1/suppressions", query: query)
    end

    # Enumerates all matching suppressions.
    def all(query = {})
      Enumerator.new do |suppressions|
        Pages.each(query, LARGEST_PAGE, :after, :next_cursor) do |page_query|
          list(page_query).tap { |page| page[:data].each { |suppression| suppressions << suppression } }
        end
      end
    end

    def get(email)
      @sender.call("GET /v1/suppressions/{email}", email)
    end

    def add(suppression, idempotency_key: nil)
      @sender.call("POST /v1/suppressions", body: suppression, idempotency_key: idempotency_key)
    end

    # Adds or removes up to 1,000 addresses. A text that is not an address is rejected alone.
    def batch(batch, idempotency_key: nil)
      @sender.call("POST /v1/suppressions/batch", body: batch, idempotency_key: idempotency_key)
    end

    def remove(email)
      @sender.call("DELETE /v1/suppressions/{email}", email)
    end
  end

  # Reads the history of the account.
  class Events
    LARGEST_PAGE = 1_000

    def initialize(sender)
      @sender = sender
    end

    # Returns events in order. Continue with `next_position`; `wait` waits for new ones.
    def list(query = {})
      @sender.call("GET /v1/events", query: query)
    end

    # Enumerates all existing events after a position; "0" is the beginning.
    def all(after_position = "0", types: nil)
      Enumerator.new do |events|
        query = { after_position: after_position, types: types }
        Pages.each(query, LARGEST_PAGE, :after_position, :next_position) do |page_query|
          list(page_query).tap { |page| page[:data].each { |event| events << event } }
        end
      end
    end
  end
end
