resource "aws_security_group" "web" {
  ingress {
    cidr_blocks      = ["10.1.0.0/16", "192.0.2.0/24"]
    ipv6_cidr_blocks = ["::/0"]
  }
}

resource "aws_subnet" "lab" {
  cidr_block = "10.2.0.0/16"
}
