-- The store of each program that is compared: one payment per order, even if an event arrives twice.
CREATE TABLE payment (
  order_id uuid PRIMARY KEY,
  payment_id uuid NOT NULL,
  amount numeric NOT NULL,
  status text NOT NULL CHECK (status IN ('Approved', 'Rejected')),
  created_at timestamptz NOT NULL
);
