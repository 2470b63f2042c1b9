# 2026-11-26 10:00:00 by RouterOS 7.11
/ip firewall address-list
add address=10.1.0.0/16 comment="head office" list=lan
add address=192.0.2.4-192.0.2.7 list=pool
/ip firewall filter
add action=drop chain=input src-address=!10.0.0.0/8
