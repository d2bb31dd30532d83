"""GFlowNets: policies that draw the solutions of a board, each as likely as the others.

Paper: Bengio, Lahlou, Deleu, Hu, Tiwari and Bengio, "GFlowNet foundations" (2023).
"""
